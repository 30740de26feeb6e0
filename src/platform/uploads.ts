/** An upload that comes in several requests, between them. Plain data: it can be stored and sent over RPC. */
export interface PartialUpload {
  readonly id: string;
  /** The caller's credential, encrypted with what only the upload's address holds. */
  readonly credential: string;
  /** `X-Gateway-Target-Account` of the request that began it. */
  readonly targetAccount: string | null;
  readonly filename: string;
  readonly displayName?: string;
  readonly mediaType: string;
  /** Bytes that the file is said to have; null: nothing was said. */
  readonly size: number | null;
  /** Bytes that came so far, and in how many pieces they are kept. */
  readonly received: number;
  readonly pieces: number;
  /** Milliseconds since the epoch; afterwards the upload is unknown. */
  readonly expiresAt: number;
}

/** Some bytes of such an upload. */
export interface UploadPiece {
  /** {@link pieceId}. */
  readonly id: string;
  /** Base64. */
  readonly data: string;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

/** The name of a piece by its upload and its place, from 0. */
export function pieceId(upload: string, index: number): string {
  return `${upload} ${index}`;
}

/** The unfinished uploads of one caller. What has expired is not returned, and what came first goes first when there are too many. */
export interface UploadStore {
  get(id: string): Promise<PartialUpload | null>;
  put(upload: PartialUpload): Promise<void>;
  getPiece(id: string): Promise<UploadPiece | null>;
  putPiece(piece: UploadPiece): Promise<void>;
  /** Forgets an upload and its pieces. */
  remove(id: string): Promise<void>;
}
