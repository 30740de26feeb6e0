import { DurableObject } from "cloudflare:workers";
import { type CallerObjects, forgetUpload } from "../src/platform/caller-objects.ts";
import type { Env } from "../src/platform/cloudflare/env.ts";
import { durableSql } from "../src/platform/cloudflare/sql.ts";
import { variablesOf } from "../src/platform/cloudflare/variables.ts";
import type { KeptFile } from "../src/platform/files.ts";
import type { StoredResponse } from "../src/platform/responses.ts";
import type { PartialUpload, UploadPiece } from "../src/platform/uploads.ts";
import { KeptObjects, type Quota } from "../src/storage/kept.ts";

/** Owner value of all stored objects: each caller has its own Durable Object. */
const OWNER = "";

/**
 * Stores a caller's objects until they expire: stored responses (contract, Stored response), metadata of uploaded files,
 * and uploads in pieces.
 */
export class ResponseStore extends DurableObject<Env> {
  readonly #quota: Quota;
  #kept: KeptObjects<CallerObjects>;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#quota = variablesOf(env).kept;
    this.#kept = new KeptObjects(durableSql(ctx.storage), this.#quota);
  }

  /** The response with this id, unless it has expired. */
  get(id: string): StoredResponse | null {
    return this.#kept.get(OWNER, "response", id, Date.now());
  }

  /** Stores a response; replaces an earlier one with the same id. */
  async put(response: StoredResponse): Promise<void> {
    this.#kept.put(OWNER, "response", response);
    await this.#wakeBy(response.expiresAt);
  }

  /** Deletes a response; returns false when there was none. */
  remove(id: string): boolean {
    return this.#kept.remove(OWNER, "response", id, Date.now());
  }

  /** The uploaded file with this id, unless it has expired. */
  getFile(id: string): KeptFile | null {
    return this.#kept.get(OWNER, "file", id, Date.now());
  }

  /** All uploaded files that have not expired, the oldest first. */
  listFiles(): readonly KeptFile[] {
    return this.#kept.list(OWNER, "file", Date.now());
  }

  /** Stores an uploaded file's metadata. */
  async putFile(file: KeptFile): Promise<void> {
    this.#kept.put(OWNER, "file", file);
    await this.#wakeBy(file.expiresAt);
  }

  /** The unfinished upload with this id, unless it has expired. */
  getUpload(id: string): PartialUpload | null {
    return this.#kept.get(OWNER, "upload", id, Date.now());
  }

  /** Stores the progress of an upload. */
  async putUpload(upload: PartialUpload): Promise<void> {
    this.#kept.put(OWNER, "upload", upload);
    await this.#wakeBy(upload.expiresAt);
  }

  /** A piece of an unfinished upload, unless it has expired. */
  getPiece(id: string): UploadPiece | null {
    return this.#kept.get(OWNER, "piece", id, Date.now());
  }

  /** Stores a piece of an unfinished upload. */
  async putPiece(piece: UploadPiece): Promise<void> {
    this.#kept.put(OWNER, "piece", piece);
    await this.#wakeBy(piece.expiresAt);
  }

  /** Deletes an unfinished upload and its pieces. */
  removeUpload(id: string): void {
    forgetUpload(this.#kept, OWNER, id, Date.now());
  }

  /** Deletes what has expired, and this object's storage when nothing is left. */
  override async alarm(): Promise<void> {
    const now = Date.now();
    const next = this.#kept.expire(now);
    if (next !== null) {
      await this.ctx.storage.setAlarm(Math.max(next, now + 1000));
      return;
    }
    await this.ctx.storage.deleteAll();
    // The old instance expects its tables.
    this.#kept = new KeptObjects(durableSql(this.ctx.storage), this.#quota);
  }

  async #wakeBy(time: number): Promise<void> {
    const alarm = await this.ctx.storage.getAlarm();
    if (alarm === null || alarm > time) await this.ctx.storage.setAlarm(time);
  }
}
