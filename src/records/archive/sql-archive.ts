import type {
  Archive,
  ArchiveBatch,
  ErasedCounts,
  HistoryQuery,
  HistoryRecord,
  HistorySummary,
  HistoryWrite,
  MetricDeltas,
  Retention,
} from "../../core/ports/archive.ts";
import type {
  Capture,
  CaptureChain,
  CaptureSummary,
  Sample,
  SampleMeta,
  SampleSelector,
} from "../../core/ports/captures.ts";
import { MAX_DATE_MS, quarantineDamagedRows, type TableCheck } from "../../core/storage/damaged-rows.ts";
import { numberIn, type Sql, textIn } from "../../core/storage/sql.ts";
import { TextTable } from "../../core/storage/text-table.ts";
import { CaptureTable } from "./capture-table.ts";
import { HistoryTable } from "./history-table.ts";
import { MetricTotals } from "./metric-totals.ts";
import { SampleTable } from "./sample-table.ts";

const START_CHECKS: readonly TableCheck[] = [
  {
    table: "retention",
    numbers: { version: Number.MAX_SAFE_INTEGER, records: null, captures: null },
  },
  { table: "metric", json: { counts: "object" } },
];
const RECORD_CHECKS: readonly TableCheck[] = [
  { table: "record", numbers: { created: MAX_DATE_MS, updated: MAX_DATE_MS }, json: { summary: "object" } },
  { table: "capture", numbers: { at: MAX_DATE_MS, chars: null }, json: { head: "object" } },
  { table: "sample", numbers: { at: MAX_DATE_MS }, json: { meta: "object" } },
];

/** Cached contents of the tables. */
interface CachedState {
  retention: Retention;
  readonly metrics: MetricTotals;
}

/** The archive in a SQLite database, in a Durable Object or in a self-hosted process. */
export class SqlArchive implements Archive {
  readonly #sql: Sql;
  readonly #now: () => number;
  readonly history: HistoryTable;
  readonly #captures: CaptureTable;
  readonly #samples: SampleTable;
  /** Cached retention and counts. Null: must be read again after a failed write. */
  #cachedState: CachedState | null;
  /** Records were written since the last trim. */
  #needsTrim = false;

  /** `now` returns milliseconds since the epoch. */
  constructor(sql: Sql, now: () => number) {
    this.#sql = sql;
    this.#now = now;
    const texts = new TextTable(sql, "piece");
    this.history = new HistoryTable(sql, texts, now);
    this.#captures = new CaptureTable(sql, texts, now);
    this.#samples = new SampleTable(sql, texts);
    sql.all(
      "create table if not exists retention(one integer primary key, version integer, records integer, captures integer)",
    );
    sql.all("create table if not exists metric(one integer primary key, counts text not null)");
    quarantineDamagedRows(sql, START_CHECKS);
    this.#cachedState = this.#read();
    // An earlier version may have created an index that is not needed.
    this.history.updateIndex(this.#cachedState.retention.records);
  }

  /** Drops cached state after a failed write. Call it when an enclosing transaction has failed. */
  invalidateCache(): void {
    this.#cachedState = null;
    this.history.invalidateCache();
  }

  #read(): CachedState {
    const row = this.#sql.all("select version, records, captures from retention")[0];
    const retention = {
      version: row === undefined ? -1 : numberIn(row, "version"),
      records: numberIn(row, "records"),
      captures: numberIn(row, "captures"),
    };
    const metrics = new MetricTotals();
    const counts = textIn(this.#sql.all("select counts from metric")[0], "counts");
    if (counts !== "") metrics.add(JSON.parse(counts));
    return { retention, metrics };
  }

  write({ retention, records, captures, metrics, sentAt }: ArchiveBatch): void {
    this.#atomic(() => {
      this.#adoptRetention(retention);
      if (this.#retention.records > 0) {
        const summaries = records.map(({ summary }) => summary);
        const cleared = new Set(this.history.deleteCleared(summaries, sentAt));
        this.history.putAll(records.filter(({ summary }) => !cleared.has(summary.id)));
        if (records.length > 0 || this.#needsTrim) this.history.trim(this.#retention.records);
        this.#needsTrim = false;
      }
      this.#captures.putAll(captures, sentAt);
      if (captures.length > 0) this.#captures.trim(this.#retention.captures);
      this.#count(metrics);
    });
  }

  /**
   * Writes ended records of this process within the caller's transaction. The next {@link write} enforces the retention
   * limits: doing that for each record would double the cost.
   */
  writeEnded(retention: Retention, records: readonly HistoryWrite[]): void {
    this.#adoptRetention(retention);
    if (this.#retention.records === 0 || records.length === 0) return;
    const summaries = records.map(({ summary }) => summary);
    const cleared = new Set(this.history.deleteCleared(summaries, undefined));
    const remaining = records.filter(({ summary }) => !cleared.has(summary.id));
    const [first, ...others] = remaining;
    // A single record needs fewer statements this way.
    if (first !== undefined && others.length === 0) this.history.put(first);
    else this.history.putAll(remaining);
    this.#needsTrim = true;
  }

  /** Call it at the start of the only writing process: then no earlier generation can still be running. */
  endInterrupted(): void {
    quarantineDamagedRows(this.#sql, RECORD_CHECKS);
    this.#sql.transaction(() => this.history.endInterrupted());
  }

  applyRetention(retention: Retention): void {
    this.#atomic(() => this.#adoptRetention(retention));
  }

  listHistory(query: HistoryQuery): { items: HistorySummary[]; total: number } {
    return this.history.list(query);
  }

  readHistory(id: string): HistoryRecord | null {
    return this.history.read(id);
  }

  deleteHistory(id: string): boolean {
    return this.#atomic(() => this.history.delete(id));
  }

  clearHistory(): number {
    return this.#atomic(() => this.history.clear());
  }

  listCaptures(): CaptureSummary[] {
    return this.#captures.list();
  }

  readCapture(id: string): Capture | null {
    return this.#captures.read(id);
  }

  clearCaptures(): number {
    return this.#atomic(() => this.#captures.clear());
  }

  eraseKey(key: string): ErasedCounts {
    return this.#atomic(() => {
      const captures = this.#captures.eraseKey(key);
      const samples = this.#samples.eraseKey(key, captures);
      return { history: this.history.eraseKey(key), captures: captures.length, samples };
    });
  }

  listChains(q: string, limit: number): CaptureChain[] {
    return this.#captures.chains(q, limit);
  }

  saveSample(selector: SampleSelector, sampleId: string, provider: string): SampleMeta | null {
    const captures = this.#selectCaptures(selector);
    if (captures.length === 0) return null;
    return this.#atomic(() => this.#samples.save(sampleId, provider, captures, this.#now()));
  }

  listSamples(): SampleMeta[] {
    return this.#samples.list();
  }

  readSample(sampleId: string): Sample | null {
    return this.#samples.read(sampleId);
  }

  deleteSample(sampleId: string): boolean {
    return this.#atomic(() => this.#samples.delete(sampleId));
  }

  get #state(): CachedState {
    this.#cachedState ??= this.#read();
    return this.#cachedState;
  }

  get #retention(): Retention {
    return this.#state.retention;
  }

  /** Number of records to keep. */
  get recordsKept(): number {
    return this.#retention.records;
  }

  readMetrics(): MetricDeltas {
    return this.#state.metrics.toDeltas();
  }

  #selectCaptures(selector: SampleSelector): readonly Capture[] {
    return "captures" in selector
      ? selector.captures
      : this.#selectCaptureIds(selector).flatMap((id) => this.#captures.read(id) ?? []);
  }

  #selectCaptureIds(selector: Exclude<SampleSelector, { captures: readonly Capture[] }>): readonly string[] {
    if ("captureIds" in selector) return selector.captureIds;
    if ("chainKey" in selector) return this.#captures.listChainCaptures(selector.chainKey);
    return this.#captures.chains(selector.query, 1)[0]?.capture_ids ?? [];
  }

  #atomic<T>(work: () => T): T {
    let result: { readonly value: T } | undefined;
    try {
      this.#sql.transaction(() => {
        result = { value: work() };
      });
    } catch (error) {
      this.invalidateCache();
      throw error;
    }
    if (result === undefined) throw new Error("the database ran no transaction");
    return result.value;
  }

  /** Adopts retention limits unless newer ones are known, and drops what exceeds them. */
  #adoptRetention(retention: Retention): void {
    const known = this.#retention;
    if (retention.version < known.version) return;
    const { version, records, captures } = retention;
    if (version === known.version && records === known.records && captures === known.captures) return;
    this.#state.retention = retention;
    this.#sql.all("insert or replace into retention values(1,?,?,?)", version, records, captures);
    if (records < known.records) this.history.trim(records);
    if (records !== known.records) this.history.updateIndex(records);
    if (captures < known.captures) this.#captures.trim(captures);
  }

  #count(deltas: MetricDeltas): void {
    if (Object.keys(deltas).length === 0) return;
    this.#state.metrics.add(deltas);
    this.#sql.all("insert or replace into metric values(1,?)", JSON.stringify(this.readMetrics()));
  }
}
