import {
  type HistoryQuery,
  type HistoryRecord,
  type HistorySummary,
  type HistoryWrite,
  isRefusalId,
  REFUSAL_ID_PREFIX,
} from "../../core/ports/archive.ts";
import { NO_USAGE_DETAILS } from "../../core/ports/usage.ts";
import { numberIn, type Sql, type SqlRow, textIn } from "../../core/storage/sql.ts";
import { insertRows, type TextTable } from "../../core/storage/text-table.ts";
import { HOUR_MS } from "../../core/units.ts";
import { DeletionWatermark } from "./deletion-watermark.ts";
import {
  buildCondition,
  buildRecordsQuery,
  CREATE_FILTER_INDEX,
  FILTER_INDEX,
  LOST_AFTER_MS,
  OLD_FILTER_INDEX,
} from "./history-filter.ts";

const INTERRUPTED = "the generation was interrupted";

/** How long a generation may still write to its deleted record. */
const TOMBSTONE_MS = HOUR_MS;

/** The state of a record in one row; `updated` is null if there is no record. */
const SELECT_STATE = `select
  (select updated from record where id = ?1) as updated,
  (select json_extract(summary, '$.status') from record where id = ?1) as status,
  exists(select 1 from deleted_record where id = ?1) as deleted`;

/**
 * Above this number of records, an index covers the filter fields. Below, each insert and delete costs more than the index
 * saves.
 */
const INDEXED_FROM = 1_000;

/** Bounds of the number of records of refused requests: a tenth of the limit for generations, but within these. */
const MIN_REFUSALS = 20;
const MAX_REFUSALS = 1_000;

/** The ids of refused requests: the last character of the second bound follows that of the first. */
const IS_REFUSAL = `id >= '${REFUSAL_ID_PREFIX}' and id < '${REFUSAL_ID_PREFIX.replace(/.$/, "`")}'`;

/** How many records of refused requests are stored beside this many of generations. */
function countRefusalsToKeep(maxRecords: number): number {
  return Math.min(maxRecords, MAX_REFUSALS, Math.max(MIN_REFUSALS, Math.ceil(maxRecords / 10)));
}

/** Ids as one bound value: a JSON array. */
export const BOUND_IDS = "(select value from json_each(?))";
/** Limit of ids in one bound value: Durable Objects allow 2 MB. */
const IDS_AT_ONCE = 10_000;

/** A record's texts, by the names under which they are stored. */
function collectTexts({ request, reasoning, content }: HistoryWrite): Readonly<Record<string, string>> {
  return { ...(request === null ? {} : request), reasoning, content };
}

/** The records of the history. A later write replaces earlier data of a record. */
export class HistoryTable {
  readonly #sql: Sql;
  readonly #texts: TextTable;
  readonly #now: () => number;
  readonly #watermark: DeletionWatermark;
  /** Whether {@link FILTER_INDEX} exists. Null: unknown since a write failed. */
  #isIndexed: boolean | null = null;

  constructor(sql: Sql, texts: TextTable, now: () => number) {
    this.#sql = sql;
    this.#texts = texts;
    this.#now = now;
    this.#watermark = new DeletionWatermark(sql, "history", now);
    sql.all(
      "create table if not exists record(seq integer primary key, id text unique not null, created integer not null, updated integer not null, summary text not null)",
    );
    sql.all("create index if not exists record_created on record(created, seq)");
    sql.all(
      "create table if not exists deleted_record(id text primary key, at integer not null) without rowid",
    );
  }

  /** Creates or drops the index, according to the number of records to keep. */
  updateIndex(records: number): void {
    const isIndexed = records > INDEXED_FROM;
    this.#sql.all(`drop index if exists ${OLD_FILTER_INDEX}`);
    this.#sql.all(isIndexed ? CREATE_FILTER_INDEX : `drop index if exists ${FILTER_INDEX}`);
    this.#isIndexed = isIndexed;
  }

  /** Drops cached state after a failed write. */
  invalidateCache(): void {
    this.#isIndexed = null;
  }

  get #hasIndex(): boolean {
    this.#isIndexed ??= this.#sql.all("select 1 from sqlite_master where name=?", FILTER_INDEX).length > 0;
    return this.#isIndexed;
  }

  /** Like {@link put} for each, but uses few statements for new records. */
  putAll(writes: readonly HistoryWrite[]): void {
    const known = this.#findKnown(writes.map(({ summary }) => summary.id));
    const newWrites = new Map<string, HistoryWrite>();
    const updates: HistoryWrite[] = [];
    for (const write of writes) {
      const { id } = write.summary;
      if (known.has(id) || newWrites.has(id)) updates.push(write);
      else newWrites.set(id, write);
    }
    const rows = Array.from(newWrites.values(), ({ summary }) => [
      summary.id,
      summary.created_at,
      summary.updated_at,
      JSON.stringify(summary),
    ]);
    insertRows(this.#sql, "record(id, created, updated, summary)", rows);
    this.#texts.insertAll(Array.from(newWrites, ([id, write]) => [id, collectTexts(write)] as const));
    for (const write of updates) this.put(write);
  }

  /**
   * Inserts or replaces a record. Drops an update that is older than the stored state. Always stores an outcome, whatever
   * the clocks say.
   */
  put(write: HistoryWrite): void {
    const { summary } = write;
    const { id } = summary;
    const known = this.#sql.all(SELECT_STATE, id)[0];
    const isNew = known?.["updated"] === null;
    if (!isNew && (summary.status === "streaming" || isRefusalId(id))) {
      if (textIn(known, "status") !== summary.status || numberIn(known, "updated") > summary.updated_at)
        return;
    }
    if (isNew && numberIn(known, "deleted") > 0) return;
    this.#sql.all(
      "insert into record(id, created, updated, summary) values(?,?,?,?) on conflict(id) do update set updated=excluded.updated, summary=excluded.summary",
      id,
      summary.created_at,
      summary.updated_at,
      JSON.stringify(summary),
    );
    const texts = collectTexts(write);
    if (isNew) this.#texts.insertAll([[id, texts]]);
    else for (const [name, text] of Object.entries(texts)) this.#texts.put(id, name, text);
  }

  /** Ends all streaming records as interrupted: no process writes to them any more. */
  endInterrupted(): void {
    this.#sql.all(
      "update record set summary = json_set(summary, '$.status', 'error', '$.error', ?, '$.completed_at', updated) where json_extract(summary, '$.status') = 'streaming'",
      INTERRUPTED,
    );
  }

  /**
   * Drops all but the newest `maxRecords` records of generations, and the refused requests beyond their own limit.
   *
   * @param limit the limit of the whole history, which decides how many refused requests are stored
   */
  trim(maxRecords: number, limit = maxRecords): void {
    const refusals = this.#refusalCount;
    this.#deleteOldest(`not (${IS_REFUSAL})`, this.count - refusals - maxRecords);
    this.#deleteOldest(IS_REFUSAL, refusals - countRefusalsToKeep(limit));
    this.#sql.all("delete from deleted_record where at<?", this.#now() - TOMBSTONE_MS);
  }

  #deleteOldest(where: string, excess: number): void {
    if (excess <= 0) return;
    const oldestIds = `select id from record where ${where} order by created, seq limit ?`;
    this.#texts.deleteOwners(oldestIds, excess);
    this.#sql.all(`delete from record where id in (${oldestIds})`, excess);
  }

  list({ offset, count, q, filter = {}, uncounted = false }: HistoryQuery): {
    items: HistorySummary[];
    total: number;
  } {
    const condition = buildCondition(filter, q, this.#now());
    const { values } = condition;
    const from = buildRecordsQuery(condition, condition.isNarrowed && this.#hasIndex);
    const newest = "order by created desc, seq desc";
    if (q !== "" && !uncounted) {
      // A text search is expensive: one search gives both the page and the total.
      const matches = this.#sql
        .all(`select seq ${from} ${newest}`, ...values)
        .map((row) => numberIn(row, "seq"));
      const page = JSON.stringify(matches.slice(offset, offset + count));
      const selectPage = `select summary from record where seq in (select value from json_each(?)) ${newest}`;
      return {
        items: this.#sql.all(selectPage, page).map((row) => this.toSummary(textIn(row, "summary"))),
        total: matches.length,
      };
    }
    const total = uncounted ? 0 : numberIn(this.#sql.all(`select count(*) as n ${from}`, ...values)[0], "n");
    // Finds the rows by the index alone, then reads their summaries.
    const rows = this.#sql.all(
      `select summary from record where seq in (select seq ${from} ${newest} limit ? offset ?) ${newest}`,
      ...values,
      count,
      offset,
    );
    return { items: rows.map((row) => this.toSummary(textIn(row, "summary"))), total };
  }

  read(id: string): HistoryRecord | null {
    const row = this.#row(id);
    if (row === undefined) return null;
    const text = (name: string) => this.#texts.get(id, name);
    return {
      ...this.toSummary(textIn(row, "summary")),
      messages: text("messages") || "[]",
      prompt: text("prompt"),
      options: text("options"),
      reasoning: text("reasoning"),
      content: text("content"),
    };
  }

  delete(id: string): boolean {
    if (this.#row(id) === undefined) return false;
    this.deletePermanently([id]);
    return true;
  }

  get count(): number {
    return numberIn(this.#sql.all("select count(*) as n from record")[0], "n");
  }

  /** Number of records of generations. */
  get generationCount(): number {
    return this.count - this.#refusalCount;
  }

  get #refusalCount(): number {
    return numberIn(this.#sql.all(`select count(*) as n from record where ${IS_REFUSAL}`)[0], "n");
  }

  /** Removes all records. {@link deleteCleared} handles those that began before but are reported later. */
  clear(): number {
    const { count } = this;
    this.#watermark.advance();
    this.#texts.deleteOwners("select id from record");
    this.#sql.all("insert or replace into deleted_record select id, ? from record", this.#now());
    this.#sql.all("delete from record");
    return count;
  }

  /** Removes the records of an API key, as {@link clear} does. Returns their number. */
  eraseKey(key: string): number {
    this.#watermark.advance(key);
    const rows = this.#sql.all("select id from record where json_extract(summary, '$.key')=?", key);
    this.deletePermanently(rows.map((row) => textIn(row, "id")));
    return rows.length;
  }

  /**
   * Deletes for good the records that began before the last clearing, whether or not they were stored by then. Call it
   * before storing them. It notes each id, because a slower later message could make a record seem younger than the
   * clearing.
   *
   * @param sentAt see `ArchiveBatch`
   * @returns their ids
   */
  deleteCleared(summaries: readonly HistorySummary[], sentAt: number | undefined): string[] {
    if (summaries.length === 0) return [];
    const until = this.#watermark.deletedUntil(sentAt);
    const ids = summaries.filter(({ created_at, key }) => created_at <= until(key)).map(({ id }) => id);
    this.deletePermanently(ids);
    return ids;
  }

  /** Returns the ids that were deleted for good. */
  findDeleted(ids: readonly string[]): Set<string> {
    if (ids.length === 0) return new Set();
    const rows = this.#sql.all(`select id from deleted_record where id in ${BOUND_IDS}`, JSON.stringify(ids));
    return new Set(rows.map((row) => textIn(row, "id")));
  }

  /** Deletes records for good: running generations do not bring them back. */
  deletePermanently(ids: readonly string[]): void {
    for (let at = 0; at < ids.length; at += IDS_AT_ONCE) {
      const batch = ids.slice(at, at + IDS_AT_ONCE);
      this.deleteReplaceable(batch);
      this.#sql.all(
        `insert or replace into deleted_record select value, ? from json_each(?)`,
        this.#now(),
        JSON.stringify(batch),
      );
    }
  }

  /** Deletes records, which later writes may bring back. */
  deleteReplaceable(ids: readonly string[]): void {
    const boundIds = JSON.stringify(ids);
    this.#sql.all(`delete from record where id in ${BOUND_IDS}`, boundIds);
    this.#texts.deleteOwners(`select value from json_each(?)`, boundIds);
  }

  /** Returns the ids that have a record or were deleted. */
  #findKnown(ids: readonly string[]): Set<string> {
    if (ids.length === 0) return new Set();
    const rows = this.#sql.all(`select id from record where id in ${BOUND_IDS}`, JSON.stringify(ids));
    return new Set([...this.findDeleted(ids), ...rows.map((row) => textIn(row, "id"))]);
  }

  #row(id: string): SqlRow | undefined {
    return this.#sql.all("select updated, summary from record where id=?", id)[0];
  }

  /** Converts stored JSON to a displayed summary. */
  toSummary(json: string): HistorySummary {
    // Records of older versions lack these fields: failed accounts, sign-ins, provider, key, times and details of usage.
    const defaults = { tried: [], sign_ins: [], provider: "", key: "", leased_at: 0, first_token_ms: 0 };
    const stored: HistorySummary = { ...defaults, ...NO_USAGE_DETAILS, ...JSON.parse(json) };
    const summary = {
      ...stored,
      tried: stored.tried.map((account) => ({ ...account, at: account.at ?? 0 })),
    };
    if (summary.status !== "streaming" || summary.updated_at > this.#now() - LOST_AFTER_MS) return summary;
    return { ...summary, status: "error", error: INTERRUPTED };
  }
}
