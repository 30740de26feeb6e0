import { DAY_MS } from "../units.ts";
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
  readonly erasure: ErasureMark;
}

/** When everything of an owner was erased last. */
export interface ErasureMark {
  readonly id: typeof ERASURE_ID;
  /** Unix milliseconds. */
  readonly at: number;
  readonly expiresAt: number;
}

const ERASURE_ID = "erasure";
/** No request runs this long: an erasure is forgotten after it. */
export const ERASURE_MARK_MS = 7 * DAY_MS;

/** The store of the objects, as far as erasures need it. */
interface ErasableStore {
  get(owner: string, kind: "erasure", id: string, now: number): ErasureMark | null;
  put(owner: string, kind: "erasure", value: ErasureMark): void;
  removeAll(owner: string): number;
}

/**
 * Deletes everything of an owner, and remembers when: requests that still run must not bring anything back.
 *
 * @returns the number of deleted objects
 */
export function eraseObjects(store: ErasableStore, owner: string, now: number): number {
  const isMarked = store.get(owner, "erasure", ERASURE_ID, now) !== null;
  const count = store.removeAll(owner) - Number(isMarked);
  store.put(owner, "erasure", { id: ERASURE_ID, at: now, expiresAt: now + ERASURE_MARK_MS });
  return count;
}

/** Whether everything of an owner was erased since a request began, both on the same clock. */
export function wasErasedSince(
  store: Pick<ErasableStore, "get">,
  owner: string,
  startedAt: number,
  now: number,
): boolean {
  const mark = store.get(owner, "erasure", ERASURE_ID, now);
  // Within one millisecond the order is unknown. Losing an object is better than keeping an erased one.
  return mark !== null && startedAt <= mark.at;
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
