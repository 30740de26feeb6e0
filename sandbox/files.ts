import type { Upload } from "./call.ts";
import { createdReply, errorReply, okReply, type Reply } from "./replies.ts";
import type { SerialNumbers } from "./serials.ts";
import type { FileObject, KeyValueStore, StoredFile } from "./shelves.ts";

/** Bytes. */
const MAX_FILE_BYTES = 100 * 1024 * 1024;

/**
 * Uploaded files. A file belongs to the account that uploaded it. A file whose name starts with `pending` is processed
 * after the first read of its object; a file whose name starts with `failed` is never processed.
 */
export class FileStore {
  readonly #files: KeyValueStore<StoredFile>;
  readonly #serials: SerialNumbers;

  constructor(files: KeyValueStore<StoredFile>, serials: SerialNumbers) {
    this.#files = files;
    this.#serials = serials;
  }

  /** Stores an upload; `now` in Unix seconds. */
  add(account: string, upload: Upload | null, now: number): Reply {
    if (upload === null)
      return errorReply("invalid_request", "The body must be multipart with a field named file.");
    if (upload.bytes > MAX_FILE_BYTES) return errorReply("too_large", "The file is larger than 100 MiB.");
    const { filename, bytes, purpose, excerpt } = upload;
    const status = filename.startsWith("pending")
      ? "pending"
      : filename.startsWith("failed")
        ? "failed"
        : "processed";
    const object: FileObject = {
      id: this.#serials.next("file"),
      bytes,
      filename,
      purpose,
      status,
      created_at: now,
    };
    this.#files.put(object.id, { account, object, excerpt });
    return createdReply(object);
  }

  /** Returns the file object. Reading a pending file completes its processing. */
  read(account: string, id: string): Reply {
    const file = this.find(account, id);
    if (file === undefined) return errorReply("not_found", "There is no such file.");
    if (file.object.status === "pending") {
      this.#files.put(id, { ...file, object: { ...file.object, status: "processed" } });
    }
    return okReply(file.object);
  }

  /** Returns a file of this account. */
  find(account: string, id: string): StoredFile | undefined {
    const file = this.#files.get(id);
    return file?.account === account ? file : undefined;
  }
}
