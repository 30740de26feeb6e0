import { DurableObject } from "cloudflare:workers";
import type {
  ArchiveBatch,
  ErasedCounts,
  HistoryQuery,
  HistoryRecord,
  HistorySummary,
  MetricDeltas,
  Retention,
} from "../src/core/ports/archive.ts";
import type {
  Capture,
  CaptureChain,
  CaptureSummary,
  Sample,
  SampleMeta,
  SampleSelector,
} from "../src/core/ports/captures.ts";
import type { LocatedRecord, RecordPack } from "../src/core/ports/record-packs.ts";
import type { Sql } from "../src/core/storage/sql.ts";
import { PackedHistory } from "../src/records/archive/packed-history.ts";
import { SqlArchive } from "../src/records/archive/sql-archive.ts";
import type { Env } from "../src/runtime/cloudflare/env.ts";
import { deletePacks, eraseRecordTexts, sweepPacks } from "../src/runtime/cloudflare/pack-bucket.ts";
import { durableSql } from "../src/runtime/cloudflare/sql.ts";
import { getProcessName } from "./process-name.ts";

/** Interval of the bucket's sweep while there is something to remove, milliseconds. */
const SWEEP_MS = 60_000;

/**
 * Stores history, captures, samples and metrics; the rules are in `src/records/archive/sql-archive.ts`. With a bucket
 * the history arrives in packs (`src/records/archive/packed-history.ts`).
 */
export class History extends DurableObject<Env> {
  readonly #sql: Sql;
  readonly #archive: SqlArchive;
  /** Null: there never were packs. */
  #packed: PackedHistory | null = null;
  /** The latest change of the bucket: changes run one after the other. */
  #lastBucketChange: Promise<unknown> = Promise.resolve();
  #isSweepScheduled = false;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    const sql = durableSql(ctx.storage);
    this.#sql = sql;
    this.#archive = new SqlArchive(sql, Date.now);
    if (PackedHistory.existsIn(sql)) this.#openPacked();
    const process = getProcessName(env);
    if (process === "") return;
    // All writers of records have ended with their process.
    sql.all("create table if not exists process(name text primary key) without rowid");
    if (sql.all("select name from process where name = ?", process).length > 0) return;
    sql.all("delete from process");
    sql.all("insert into process(name) values(?)", process);
    this.#archive.endInterrupted();
  }

  write(batch: ArchiveBatch): void {
    this.#runInTransaction(() => {
      this.#archive.write(batch);
      this.#trimToRetention();
    });
  }

  /** Stores what an isolate has collected. Running records are in the batch, ended records in packs. */
  async writePacked(batch: ArchiveBatch, packs: readonly RecordPack[]): Promise<void> {
    const packed = this.#openPacked();
    this.#runInTransaction(() => {
      const previousLimit = this.#archive.recordsKept;
      this.#archive.applyRetention(batch.retention);
      if (this.#archive.recordsKept < previousLimit) this.#trimToRetention();
      packed.write(batch.records, packs, this.#archive.recordsKept, batch.sentAt);
      this.#archive.write({ ...batch, records: [] });
    });
    await this.#scheduleSweep();
    // The isolate does not wait for this: the alarm retries failures.
    if (packed.hasStrayTexts) this.ctx.waitUntil(this.#eraseStrayTexts(packed).catch(() => undefined));
  }

  async retain(retention: Retention): Promise<void> {
    this.#runInTransaction(() => {
      this.#archive.applyRetention(retention);
      this.#trimToRetention();
    });
    if (this.#packed !== null) await this.#scheduleSweep();
  }

  listHistory(query: HistoryQuery): { items: HistorySummary[]; total: number } {
    return (this.#packed ?? this.#archive.history).list(query);
  }

  readHistory(id: string): HistoryRecord | LocatedRecord | null {
    return (this.#packed ?? this.#archive.history).read(id);
  }

  async deleteHistory(id: string): Promise<boolean> {
    const packed = this.#packed;
    if (packed === null) return this.#archive.deleteHistory(id);
    const { HISTORY_BUCKET: bucket } = this.env;
    const location = packed.placeOf(id);
    if (location !== null && bucket !== undefined) {
      await this.#runExclusive(() => eraseRecordTexts(bucket, location.key, [location]));
    }
    const isGone = this.#runInTransaction(() => packed.delete(id));
    // It may have been the last record of its pack.
    if (isGone) await this.#scheduleSweep();
    return isGone;
  }

  async clearHistory(): Promise<number> {
    const packed = this.#packed;
    if (packed === null) return this.#archive.clearHistory();
    const { keys } = packed;
    // The sweep removes what stays in the bucket after a failure. The other order would leave records without texts.
    const count = this.#runInTransaction(() => packed.clear(keys));
    await this.#scheduleSweep();
    const { HISTORY_BUCKET: bucket } = this.env;
    if (bucket !== undefined)
      await this.#runExclusive(() => deletePacks(bucket, keys)).catch(() => undefined);
    return count;
  }

  async eraseKey(key: string): Promise<ErasedCounts> {
    const packed = this.#packed;
    const counts = this.#runInTransaction(() => {
      const packedCount = packed?.eraseKey(key) ?? 0;
      const erased = this.#archive.eraseKey(key);
      return { ...erased, history: erased.history + packedCount };
    });
    if (packed === null) return counts;
    // The alarm repeats the erasure of texts if it fails here.
    await this.#scheduleSweep();
    if (packed.hasStrayTexts) await this.#eraseStrayTexts(packed);
    return counts;
  }

  /** Settles records whose isolate is lost, and deletes from the bucket what is no longer stored. */
  override async alarm(): Promise<void> {
    const packed = this.#packed;
    if (packed === null) return;
    // Requests that arrive during this sweep set the next alarm themselves.
    this.#isSweepScheduled = false;
    let hasMore = true;
    try {
      this.ctx.storage.transactionSync(() => packed.storeLost());
      await this.#eraseStrayTexts(packed);
      const { HISTORY_BUCKET: bucket } = this.env;
      hasMore = bucket !== undefined && (await sweepPacks(bucket, new Set(packed.keys), Date.now()));
    } catch {
      // An alarm that throws is retried only a few times by the platform, so failures are caught here.
    }
    if (hasMore || packed.hasRunning) await this.#scheduleSweep();
  }

  /** Runs changes of the bucket one after the other: an erasure in progress would restore what is deleted meanwhile. */
  async #runExclusive(work: () => Promise<void>): Promise<void> {
    const done = this.#lastBucketChange.then(work);
    this.#lastBucketChange = done.catch(() => undefined);
    await done;
  }

  /** Erases texts in the bucket whose record was deleted before its pack arrived, or arrived twice. */
  async #eraseStrayTexts(packed: PackedHistory): Promise<void> {
    const { HISTORY_BUCKET: bucket } = this.env;
    if (bucket === undefined) return;
    await this.#runExclusive(async () => {
      for (const [key, locations] of packed.listStrayTexts()) {
        if (locations === null) await bucket.delete(key);
        else await eraseRecordTexts(bucket, key, locations);
        packed.unmarkStrays(key);
      }
    });
  }

  /** Runs `work` in a transaction: all of its writes happen or none. */
  #runInTransaction<T>(work: () => T): T {
    try {
      return this.ctx.storage.transactionSync(work);
    } catch (error) {
      this.#archive.invalidateCache();
      this.#packed?.invalidateCache();
      throw error;
    }
  }

  async #scheduleSweep(): Promise<void> {
    if (this.#isSweepScheduled) return;
    this.#isSweepScheduled = true;
    try {
      await this.ctx.storage.setAlarm(Date.now() + SWEEP_MS);
    } catch (error) {
      this.#isSweepScheduled = false;
      throw error;
    }
  }

  /** Drops surplus records from packs and single rows: the older kind first. */
  #trimToRetention(): void {
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
    return this.#archive.listChains(q, limit);
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
    return this.#archive.readMetrics();
  }
}
