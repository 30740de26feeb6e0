/** An unfinished upload that arrives in several requests. Plain data: it can be stored and sent over RPC. */
export interface PartialUpload {
  readonly id: string;
  /** The caller's credential, encrypted with a key that only the upload's address contains. */
  readonly credential: string;
  /** `X-Gateway-Target-Account` of the first request. */
  readonly targetAccount: string | null;
  /** `X-Gateway-Provider` of the first request. Absent: none. */
  readonly provider?: string;
  readonly filename: string;
  readonly displayName?: string;
  readonly mediaType: string;
  /** The announced size of the file in bytes; null if not announced. */
  readonly size: number | null;
  /** Bytes received so far, and the number of stored pieces. */
  readonly received: number;
  readonly pieces: number;
  /** Milliseconds since the epoch, after which the upload is unknown. */
  readonly expiresAt: number;
}

/** A piece of an unfinished upload. */
export interface UploadPiece {
  /** See {@link createPieceId}. */
  readonly id: string;
  /** Base64. */
  readonly data: string;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

/** The id of a piece: its upload and its index from 0. */
export function createPieceId(upload: string, index: number): string {
  return `${upload} ${index}`;
}

/** The unfinished uploads of one caller, without expired ones. If there are too many, the oldest are deleted. */
export interface UploadStore {
  get(id: string): Promise<PartialUpload | null>;
  put(upload: PartialUpload): Promise<void>;
  getPiece(id: string): Promise<UploadPiece | null>;
  putPiece(piece: UploadPiece): Promise<void>;
  /** Deletes an upload and its pieces. */
  remove(id: string): Promise<void>;
}
