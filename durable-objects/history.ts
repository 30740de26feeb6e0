import { DurableObject } from "cloudflare:workers";
import { SqlArchive } from "../src/archive/archive.ts";
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
import { durableSql } from "../src/platform/cloudflare/sql.ts";
import { nameOfProcess } from "./process-name.ts";

/** Keeps history, captures, samples and metrics; the rules are in `src/archive/archive.ts`. */
export class History extends DurableObject<Env> {
  readonly #archive: SqlArchive;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    const sql = durableSql(ctx.storage);
    this.#archive = new SqlArchive(sql, Date.now);
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
    this.#archive.write(batch);
  }

  retain(retention: Retention): void {
    this.#archive.retain(retention);
  }

  listHistory(query: HistoryQuery): { items: HistorySummary[]; total: number } {
    return this.#archive.listHistory(query);
  }

  readHistory(id: string): HistoryRecord | null {
    return this.#archive.readHistory(id);
  }

  deleteHistory(id: string): boolean {
    return this.#archive.deleteHistory(id);
  }

  clearHistory(): number {
    return this.#archive.clearHistory();
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
