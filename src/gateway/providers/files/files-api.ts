import type { UpstreamAccount } from "../upstream-account.ts";

/** A file stored by the provider. */
export interface ProviderFile {
  readonly id: string;
  /** The address by which requests name the file, for protocols that use no id there. */
  readonly uri?: string;
  readonly bytes: number;
  readonly filename: string;
  readonly purpose: string;
  readonly status: string;
  /** Unix seconds. */
  readonly createdAt: number;
  /** When the provider deletes the file, Unix seconds. Absent: it states no time. */
  readonly expiresAt?: number;
}

/** A file to upload to the provider. */
export interface FileUpload {
  readonly filename: string;
  readonly mediaType: string;
  /** Empty: none. A function is called at the end of the body. */
  readonly purpose: string | (() => string);
  /** Returns the lifetime that the caller requested, in seconds; null: none. Called at the end of the body. */
  readonly lifetime?: () => number | null;
  /** The provider's model that will read the file. */
  readonly model: string;
  readonly body: ReadableStream<Uint8Array> | Uint8Array;
}

/** Operations on files stored by the provider, in the account that uploaded them. `fileId` is the provider's id. */
export interface FilesApi {
  /** Callers see the provider's ids. Absent: the gateway gives each file an id of its own. */
  readonly showsOwnIds?: true;
  /** Uploads a file as a stream. Throws a `GatewayError` 501 if the backend has no place for files. */
  upload(account: UpstreamAccount, upload: FileUpload, signal: AbortSignal): Promise<ProviderFile>;
  /** Throws `not_found` for a file that was deleted or has expired. */
  read(account: UpstreamAccount, fileId: string, signal: AbortSignal): Promise<ProviderFile>;
  /** Deletes a file. Throws `not_found` as `read` does. Absent: the protocol cannot delete files. */
  delete?(account: UpstreamAccount, fileId: string, signal: AbortSignal): Promise<void>;
  /** Opens a file's content. Throws `not_found` as `read` does. Absent: the protocol never returns it. */
  readContent?(
    account: UpstreamAccount,
    fileId: string,
    signal: AbortSignal,
  ): Promise<ReadableStream<Uint8Array>>;
}
