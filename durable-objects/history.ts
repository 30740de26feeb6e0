import { DurableObject } from "cloudflare:workers";
import { SqlArchive } from "../src/archive/archive.ts";
import { PackedHistory } from "../src/archive/packed-history.ts";
import type {
  ArchiveBatch,
  HistoryQuery,
  HistoryRecord,
  HistorySummary,
  MetricDeltas,
  Retention,
} from "../src/platform/archive.ts";
import type {
  Capture,
  CaptureChain,
  CaptureSummary,
  Sample,
  SampleMeta,
  SampleSelector,
} from "../src/platform/captures.ts";
import type { Env } from "../src/platform/cloudflare/env.ts";
import { deletePacks, eraseTexts, sweepPacks } from "../src/platform/cloudflare/pack-bucket.ts";
import { durableSql } from "../src/platform/cloudflare/sql.ts";
import type { PlacedRecord, RecordPack } from "../src/platform/record-packs.ts";
import type { Sql } from "../src/storage/sql.ts";
import { nameOfProcess } from "./process-name.ts";

/** How often what a bucket holds is looked through, while there is something to find. */
const SWEEP_MS = 60_000;

/**
 * Keeps history, captures, samples and metrics; the rules are in `src/archive/archive.ts`. Where a bucket is bound the history
 * comes in packs (`src/archive/packed-history.ts`).
 */
export class History extends DurableObject<Env> {
  readonly #sql: Sql;
  readonly #archive: SqlArchive;
  /** Null: there never were packs. */
  #packed: PackedHistory | null = null;
  /** The change of the bucket that was begun last: they take turns. */
  #erasing: Promise<unknown> = Promise.resolve();
  #sweeps = false;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    const sql = durableSql(ctx.storage);
    this.#sql = sql;
    this.#archive = new SqlArchive(sql, Date.now);
    if (PackedHistory.isIn(sql)) this.#openPacked();
    const process = nameOfProcess(env);
    if (process === "") return;
    // Whoever wrote to a record has ended with the process.
    sql.all("create table if not exists process(name text primary key) without rowid");
    if (sql.all("select name from process where name = ?", process).length > 0) return;
    sql.all("delete from process");
    sql.all("insert into process(name) values(?)", process);
    this.#archive.interrupt();
  }

  write(batch: ArchiveBatch): void {
    this.#atomic(() => {
      this.#archive.write(batch);
      this.#fit();
    });
  }

  /** Takes what an isolate has gathered; of the records those that run are in the batch, and those that have ended in packs. */
  async writePacked(batch: ArchiveBatch, packs: readonly RecordPack[]): Promise<void> {
    const packed = this.#openPacked();
    this.#atomic(() => {
      const kept = this.#archive.recordsKept;
      this.#archive.retain(batch.retention);
      if (this.#archive.recordsKept < kept) this.#fit();
      packed.write(batch.records, packs, this.#archive.recordsKept, batch.sentAt);
      this.#archive.write({ ...batch, records: [] });
    });
    await this.#sweepSoon();
    // The isolate does not wait for it: the alarm comes back to what fails.
    if (packed.hasStrays) this.ctx.waitUntil(this.#eraseStrays(packed).catch(() => undefined));
  }

  async retain(retention: Retention): Promise<void> {
    this.#atomic(() => {
      this.#archive.retain(retention);
      this.#fit();
    });
    if (this.#packed !== null) await this.#sweepSoon();
  }

  listHistory(query: HistoryQuery): { items: HistorySummary[]; total: number } {
    return (this.#packed ?? this.#archive.history).list(query);
  }

  readHistory(id: string): HistoryRecord | PlacedRecord | null {
    return (this.#packed ?? this.#archive.history).read(id);
  }

  async deleteHistory(id: string): Promise<boolean> {
    const packed = this.#packed;
    if (packed === null) return this.#archive.deleteHistory(id);
    const { HISTORY_BUCKET: bucket } = this.env;
    const place = packed.placeOf(id);
    if (place !== null && bucket !== undefined) {
      await this.#inTurn(() => eraseTexts(bucket, place.key, [place]));
    }
    const isGone = this.#atomic(() => packed.delete(id));
    // It may have been the last one of its pack.
    if (isGone) await this.#sweepSoon();
    return isGone;
  }

  async clearHistory(): Promise<number> {
    const packed = this.#packed;
    if (packed === null) return this.#archive.clearHistory();
    const { keys } = packed;
    // What the bucket keeps in spite of this is for the sweep. The other way round records would be left without their texts.
    const count = this.#atomic(() => packed.clear(keys));
    await this.#sweepSoon();
    const { HISTORY_BUCKET: bucket } = this.env;
    if (bucket !== undefined) await this.#inTurn(() => deletePacks(bucket, keys)).catch(() => undefined);
    return count;
  }

  /** Settles what has lost its isolate, and deletes of the bucket what is no longer kept. */
  override async alarm(): Promise<void> {
    const packed = this.#packed;
    if (packed === null) return;
    // What comes while it looks through the bucket sets the next alarm itself.
    this.#sweeps = false;
    let isLeft = true;
    try {
      this.ctx.storage.transactionSync(() => packed.settleLost());
      await this.#eraseStrays(packed);
      const { HISTORY_BUCKET: bucket } = this.env;
      isLeft = bucket !== undefined && (await sweepPacks(bucket, new Set(packed.keys), Date.now()));
    } catch {
      // The platform would try it a few times, then never again.
    }
    if (isLeft || packed.isWaiting) await this.#sweepSoon();
  }

  /** What changes the bucket takes turns: an erasure that is under way would put back what is deleted meanwhile. */
  async #inTurn(work: () => Promise<void>): Promise<void> {
    const done = this.#erasing.then(work);
    this.#erasing = done.catch(() => undefined);
    await done;
  }

  /** Erases what is in the bucket of records that were deleted before they were told of, or came twice. */
  async #eraseStrays(packed: PackedHistory): Promise<void> {
    const { HISTORY_BUCKET: bucket } = this.env;
    if (bucket === undefined) return;
    await this.#inTurn(async () => {
      for (const [key, places] of packed.strays()) {
        if (places === null) await bucket.delete(key);
        else await eraseTexts(bucket, key, places);
        packed.erased(key);
      }
    });
  }

  /** All of it or nothing is kept. */
  #atomic<T>(work: () => T): T {
    try {
      return this.ctx.storage.transactionSync(work);
    } catch (error) {
      this.#archive.distrust();
      this.#packed?.distrust();
      throw error;
    }
  }

  async #sweepSoon(): Promise<void> {
    if (this.#sweeps) return;
    this.#sweeps = true;
    try {
      await this.ctx.storage.setAlarm(Date.now() + SWEEP_MS);
    } catch (error) {
      this.#sweeps = false;
      throw error;
    }
  }

  /** Drops of packs and single records what is too much: the older kind first. */
  #fit(): void {
    const { recordsKept } = this.#archive;
    if (this.env.HISTORY_BUCKET === undefined) this.#packed?.trimPacks(recordsKept);
    else this.#packed?.trim(recordsKept);
  }

  #openPacked(): PackedHistory {
    this.#packed ??= new PackedHistory(this.#sql, this.#archive.history, Date.now);
    return this.#packed;
  }

  listCaptures(): CaptureSummary[] {
    return this.#archive.listCaptures();
  }

  readCapture(id: string): Capture | null {
    return this.#archive.readCapture(id);
  }

  clearCaptures(): number {
    return this.#archive.clearCaptures();
  }

  chains(q: string, limit: number): CaptureChain[] {
    return this.#archive.chains(q, limit);
  }

  saveSample(selector: SampleSelector, sampleId: string, provider: string): SampleMeta | null {
    return this.#archive.saveSample(selector, sampleId, provider);
  }

  listSamples(): SampleMeta[] {
    return this.#archive.listSamples();
  }

  readSample(sampleId: string): Sample | null {
    return this.#archive.readSample(sampleId);
  }

  deleteSample(sampleId: string): boolean {
    return this.#archive.deleteSample(sampleId);
  }

  metrics(): MetricDeltas {
    return this.#archive.metrics();
  }
}
