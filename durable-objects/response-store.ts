import { DurableObject } from "cloudflare:workers";
import type { AccountState } from "../src/core/ports/account-states.ts";
import { type BatchRecord, type BatchTokens, mergeCountedTokens } from "../src/core/ports/batches.ts";
import {
  type CallerObjects,
  deleteUpload,
  ERASURE_MARK_MS,
  eraseObjects,
  wasErasedSince,
} from "../src/core/ports/caller-objects.ts";
import type { FileRecord } from "../src/core/ports/files.ts";
import {
  claimReplay,
  REPLAY_MS,
  type ReplayAnswer,
  type ReplayClaim,
  type ReplayState,
  renewReplay,
  settleReplay,
} from "../src/core/ports/replays.ts";
import type { StoredResponse } from "../src/core/ports/responses.ts";
import type { PartialUpload, UploadPiece } from "../src/core/ports/uploads.ts";
import { ExpiringStore, type OwnerQuota } from "../src/core/storage/expiring-store.ts";
import type { Env } from "../src/runtime/cloudflare/env.ts";
import { durableSql } from "../src/runtime/cloudflare/sql.ts";
import { getVariables } from "../src/runtime/cloudflare/variables.ts";

/** Owner value of all stored objects: each caller has its own Durable Object. */
const OWNER = "";

/**
 * Stores a caller's objects until they expire: stored responses (docs/contract/answers.md, Stored response), metadata
 * of uploaded files, batches, the accounts of containers and caches, uploads in pieces, and answers of requests with an
 * idempotency key.
 */
export class ResponseStore extends DurableObject<Env> {
  readonly #quota: OwnerQuota;
  #objects: ExpiringStore<CallerObjects>;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#quota = getVariables(env).storedObjectLimits;
    this.#objects = new ExpiringStore(durableSql(ctx.storage), this.#quota);
  }

  /** The response with this id, unless it has expired. */
  get(id: string): StoredResponse | null {
    return this.#objects.get(OWNER, "response", id, Date.now());
  }

  /** Stores a response; replaces an earlier one with the same id. */
  put(response: StoredResponse, ageMs: number): Promise<void> {
    return this.#put("response", response, ageMs);
  }

  /** Deletes a response; returns false when there was none. */
  remove(id: string): boolean {
    return this.#objects.remove(OWNER, "response", id, Date.now());
  }

  /** The uploaded file with this id, unless it has expired. */
  getFile(id: string): FileRecord | null {
    return this.#objects.get(OWNER, "file", id, Date.now());
  }

  /** All uploaded files that have not expired, the oldest first. */
  listFiles(): readonly FileRecord[] {
    return this.#objects.list(OWNER, "file", Date.now());
  }

  /** Stores an uploaded file's metadata. */
  putFile(file: FileRecord, ageMs: number): Promise<void> {
    return this.#put("file", file, ageMs);
  }

  /** The batch with this id, unless it has expired. */
  getBatch(id: string): BatchRecord | null {
    return this.#objects.get(OWNER, "batch", id, Date.now());
  }

  /** All batches that have not expired, the oldest first. */
  listBatches(): readonly BatchRecord[] {
    return this.#objects.list(OWNER, "batch", Date.now());
  }

  /** Stores a batch. Returns its tokens that were counted before. */
  async putBatch(batch: BatchRecord, ageMs: number): Promise<BatchTokens> {
    const { merged, countedBefore } = mergeCountedTokens(batch, this.getBatch(batch.id));
    await this.#put("batch", merged, ageMs);
    return countedBefore;
  }

  /** What lives at an account under this id, unless it has expired. */
  getState(id: string): AccountState | null {
    return this.#objects.get(OWNER, "state", id, Date.now());
  }

  /** Everything that lives at accounts and has not expired, the oldest first. */
  listStates(): readonly AccountState[] {
    return this.#objects.list(OWNER, "state", Date.now());
  }

  /** Stores what lives at an account. */
  putState(state: AccountState, ageMs: number): Promise<void> {
    return this.#put("state", state, ageMs);
  }

  /** Forgets what lives at an account; returns false when there was none. */
  removeState(id: string): boolean {
    return this.#objects.remove(OWNER, "state", id, Date.now());
  }

  /** The unfinished upload with this id, unless it has expired. */
  getUpload(id: string): PartialUpload | null {
    return this.#objects.get(OWNER, "upload", id, Date.now());
  }

  /** Stores the progress of an upload. */
  putUpload(upload: PartialUpload, ageMs: number): Promise<void> {
    return this.#put("upload", upload, ageMs);
  }

  /** A piece of an unfinished upload, unless it has expired. */
  getPiece(id: string): UploadPiece | null {
    return this.#objects.get(OWNER, "piece", id, Date.now());
  }

  /** Stores a piece of an unfinished upload. */
  putPiece(piece: UploadPiece, ageMs: number): Promise<void> {
    return this.#put("piece", piece, ageMs);
  }

  /** Deletes an unfinished upload and its pieces. */
  removeUpload(id: string): void {
    deleteUpload(this.#objects, OWNER, id, Date.now());
  }

  /** Claims an idempotency key. */
  async claimReplay(claim: ReplayClaim): Promise<ReplayState> {
    const now = Date.now();
    const result = claimReplay(this.#objects, { owner: OWNER, now }, claim);
    if (result.state === "claimed") await this.#setAlarmBy(now + REPLAY_MS);
    return result;
  }

  /** Extends the lease of a request with an idempotency key. */
  renewReplay(claim: ReplayClaim): void {
    renewReplay(this.#objects, { owner: OWNER, now: Date.now() }, claim);
  }

  /** Stores the answer of a request with an idempotency key; null: releases the key. */
  settleReplay(claim: ReplayClaim, answer: ReplayAnswer | null, ageMs: number): void {
    const kept = this.wasErasedSince(ageMs) ? null : answer;
    settleReplay(this.#objects, { owner: OWNER, now: Date.now() }, claim, kept);
  }

  /** Deletes everything. Returns the number of deleted objects. */
  async erase(): Promise<number> {
    const count = eraseObjects(this.#objects, OWNER, Date.now());
    await this.#setAlarmBy(Date.now() + ERASURE_MARK_MS);
    return count;
  }

  /** Whether everything was erased since a request began. `ageMs`: for how long it has run. */
  wasErasedSince(ageMs: number): boolean {
    const now = Date.now();
    return wasErasedSince(this.#objects, OWNER, now - ageMs, now);
  }

  /** Deletes what has expired, and this object's storage when nothing is left. */
  override async alarm(): Promise<void> {
    const now = Date.now();
    const next = this.#objects.deleteExpired(now);
    if (next !== null) {
      await this.ctx.storage.setAlarm(Math.max(next, now + 1000));
      return;
    }
    await this.ctx.storage.deleteAll();
    // The old instance expects its tables.
    this.#objects = new ExpiringStore(durableSql(this.ctx.storage), this.#quota);
  }

  /** Stores an object, unless everything was erased since its request began. Ages are the same on all clocks. */
  async #put<Kind extends keyof CallerObjects & string>(
    kind: Kind,
    value: CallerObjects[Kind],
    ageMs: number,
  ): Promise<void> {
    if (this.wasErasedSince(ageMs)) return;
    this.#objects.put(OWNER, kind, value);
    await this.#setAlarmBy(value.expiresAt);
  }

  async #setAlarmBy(time: number): Promise<void> {
    const alarm = await this.ctx.storage.getAlarm();
    if (alarm === null || alarm > time) await this.ctx.storage.setAlarm(time);
  }
}
