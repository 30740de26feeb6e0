import type { AccountState } from "./account-states.ts";
import type { BatchRecord } from "./batches.ts";
import type { FileRecord } from "./files.ts";
import type { ReplayRecord } from "./replays.ts";
import type { StoredResponse } from "./responses.ts";
import { createPieceId, type PartialUpload, type UploadPiece } from "./uploads.ts";

/** The objects stored for callers until they expire, by kind. */
export interface CallerObjects {
  readonly response: StoredResponse;
  readonly file: FileRecord;
  readonly batch: BatchRecord;
  readonly state: AccountState;
  readonly upload: PartialUpload;
  readonly piece: UploadPiece;
  readonly replay: ReplayRecord;
}

/** Deletes an owner's unfinished upload and its pieces. `now` is in Unix milliseconds. */
export function deleteUpload(store: UploadObjectStore, owner: string, id: string, now: number): void {
  const upload = store.get(owner, "upload", id, now);
  if (upload === null) return;
  for (let index = 0; index < upload.pieces; index += 1) {
    store.remove(owner, "piece", createPieceId(id, index), now);
  }
  store.remove(owner, "upload", id, now);
}

/** The store of uploads. */
interface UploadObjectStore {
  get(owner: string, kind: "upload", id: string, now: number): PartialUpload | null;
  remove(owner: string, kind: "upload" | "piece", id: string, now: number): boolean;
}
