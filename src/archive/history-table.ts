import type { HistoryQuery, HistoryRecord, HistorySummary, HistoryWrite } from "../platform/archive.ts";
import { numberIn, type Sql, type SqlRow, textIn } from "../storage/sql.ts";
import { insertRows, type TextTable } from "../storage/texts.ts";
import { Clearing } from "./clearing.ts";
import { conditionOf, FACT_INDEX, LOST_AFTER_MS, MAKE_FACT_INDEX, recordsWhere } from "./history-filter.ts";

const INTERRUPTED = "the generation was interrupted";

/** A deleted record may still be written to for this long by the generation that it belongs to. */
const TOMBSTONE_MS = 60 * 60_000;

/** What is known of a record: one row, whose `updated` is null if there is none. */
const KNOWN = `select
  (select updated from record where id = ?1) as updated,
  (select json_extract(summary, '$.status') from record where id = ?1) as status,
  exists(select 1 from deleted_record where id = ?1) as deleted`;

/** Of more records than these the filters' facts have an index: of fewer it costs more, each time that one comes or goes, than it saves. */
const INDEXED_FROM = 1_000;

/** Ids that are given as one value: a JSON array. */
export const GIVEN = "(select value from json_each(?))";
/** So many ids are one value at most: Durable Objects take 2 MB. */
const IDS_AT_ONCE = 10_000;

/** The texts of a record, by the names under which they are kept. */
function textsOf({ request, reasoning, content }: HistoryWrite): Readonly<Record<string, string>> {
  return { ...(request === null ? {} : request), reasoning, content };
}

/** The history's records. What is written later about a record replaces what was known of it. */
export class HistoryTable {
  readonly #sql: Sql;
  readonly #texts: TextTable;
  readonly #now: () => number;
  readonly #cleared: Clearing;
  /** There is {@link FACT_INDEX}. Null: it has not been looked for since a write failed. */
  #isIndexed: boolean | null = null;

  constructor(sql: Sql, texts: TextTable, now: () => number) {
    this.#sql = sql;
    this.#texts = texts;
    this.#now = now;
    this.#cleared = new Clearing(sql, "history", now);
    sql.all(
      "create table if not exists record(seq integer primary key, id text unique not null, created integer not null, updated integer not null, summary text not null)",
    );
    sql.all("create index if not exists record_created on record(created, seq)");
    sql.all(
      "create table if not exists deleted_record(id text primary key, at integer not null) without rowid",
    );
  }

  /** So many records are kept from now on: makes what lists of them need, and drops what they do not. */
  keepIndexFor(records: number): void {
    const isIndexed = records > INDEXED_FROM;
    this.#sql.all(isIndexed ? MAKE_FACT_INDEX : `drop index if exists ${FACT_INDEX}`);
    this.#isIndexed = isIndexed;
  }

  /** A write was not kept: what is remembered is looked for anew. */
  distrust(): void {
    this.#isIndexed = null;
  }

  get #hasIndex(): boolean {
    this.#isIndexed ??= this.#sql.all("select 1 from sqlite_master where name=?", FACT_INDEX).length > 0;
    return this.#isIndexed;
  }

  /** The same as {@link put} for each, with few statements for those that nothing is known of. */
  putAll(writes: readonly HistoryWrite[]): void {
    const known = this.#knownOf(writes.map(({ summary }) => summary.id));
    const fresh = new Map<string, HistoryWrite>();
    const others: HistoryWrite[] = [];
    for (const write of writes) {
      const { id } = write.summary;
      if (known.has(id) || fresh.has(id)) others.push(write);
      else fresh.set(id, write);
    }
    const rows = Array.from(fresh.values(), ({ summary }) => [
      summary.id,
      summary.created_at,
      summary.updated_at,
      JSON.stringify(summary),
    ]);
    insertRows(this.#sql, "record(id, created, updated, summary)", rows);
    this.#texts.putFresh(Array.from(fresh, ([id, write]) => [id, textsOf(write)] as const));
    for (const write of others) this.put(write);
  }

  /** Inserts or replaces a record. News that is older than what is known is dropped; an outcome never is, whatever clocks say. */
  put(write: HistoryWrite): void {
    const { summary } = write;
    const { id } = summary;
    const known = this.#sql.all(KNOWN, id)[0];
    const fresh = known?.["updated"] === null;
    if (!fresh && summary.status === "streaming") {
      if (textIn(known, "status") !== "streaming" || numberIn(known, "updated") > summary.updated_at) return;
    }
    if (fresh && numberIn(known, "deleted") > 0) return;
    this.#sql.all(
      "insert into record(id, created, updated, summary) values(?,?,?,?) on conflict(id) do update set updated=excluded.updated, summary=excluded.summary",
      id,
      summary.created_at,
      summary.updated_at,
      JSON.stringify(summary),
    );
    const texts = textsOf(write);
    if (fresh) this.#texts.putFresh([[id, texts]]);
    else for (const [name, text] of Object.entries(texts)) this.#texts.put(id, name, text);
  }

  /** Ends the records that say that they stream: nobody is left who writes to them. */
  interrupt(): void {
    this.#sql.all(
      "update record set summary = json_set(summary, '$.status', 'error', '$.error', ?, '$.completed_at', updated) where json_extract(summary, '$.status') = 'streaming'",
      INTERRUPTED,
    );
  }

  /** Drops all but the newest `keep` records. */
  trim(keep: number): void {
    const excess = this.count - keep;
    if (excess > 0) {
      const old = "select id from record order by created, seq limit ?";
      this.#texts.deleteOf(old, excess);
      this.#sql.all(`delete from record where id in (${old})`, excess);
    }
    this.#sql.all("delete from deleted_record where at<?", this.#now() - TOMBSTONE_MS);
  }

  list({ offset, count, q, filter = {}, uncounted = false }: HistoryQuery): {
    items: HistorySummary[];
    total: number;
  } {
    const condition = conditionOf(filter, q, this.#now());
    const { values } = condition;
    const from = recordsWhere(condition, condition.isNarrowed && this.#hasIndex);
    const newest = "order by created desc, seq desc";
    if (q !== "" && !uncounted) {
      // To look for a text is dear: once for both answers.
      const found = this.#sql
        .all(`select seq ${from} ${newest}`, ...values)
        .map((row) => numberIn(row, "seq"));
      const page = JSON.stringify(found.slice(offset, offset + count));
      const shown = `select summary from record where seq in (select value from json_each(?)) ${newest}`;
      return {
        items: this.#sql.all(shown, page).map((row) => this.shown(textIn(row, "summary"))),
        total: found.length,
      };
    }
    const total = uncounted ? 0 : numberIn(this.#sql.all(`select count(*) as n ${from}`, ...values)[0], "n");
    // Which ones, by the index alone; then what they say.
    const rows = this.#sql.all(
      `select summary from record where seq in (select seq ${from} ${newest} limit ? offset ?) ${newest}`,
      ...values,
      count,
      offset,
    );
    return { items: rows.map((row) => this.shown(textIn(row, "summary"))), total };
  }

  read(id: string): HistoryRecord | null {
    const row = this.#row(id);
    if (row === undefined) return null;
    const text = (name: string) => this.#texts.get(id, name);
    return {
      ...this.shown(textIn(row, "summary")),
      messages: text("messages") || "[]",
      prompt: text("prompt"),
      reasoning: text("reasoning"),
      content: text("content"),
    };
  }

  delete(id: string): boolean {
    if (this.#row(id) === undefined) return false;
    this.bury([id]);
    return true;
  }

  get count(): number {
    return numberIn(this.#sql.all("select count(*) as n from record")[0], "n");
  }

  /** Removes all records. Those that began before, and are told of later, are for {@link buryCleared}. */
  clear(): number {
    const { count } = this;
    this.#cleared.mark();
    this.#texts.deleteOf("select id from record");
    this.#sql.all("insert or replace into deleted_record select id, ? from record", this.#now());
    this.#sql.all("delete from record");
    return count;
  }

  /**
   * Removes for good those that began before the history was cleared, whether or not anything had been heard of them by then. To be
   * called before they are put. Written down one by one: the next message may take longer, and make them seem younger.
   *
   * @param sentAt see `ArchiveBatch`
   * @returns their ids
   */
  buryCleared(summaries: readonly HistorySummary[], sentAt: number | undefined): string[] {
    if (summaries.length === 0) return [];
    const until = this.#cleared.until(sentAt);
    const ids = summaries.filter(({ created_at }) => created_at <= until).map(({ id }) => id);
    this.bury(ids);
    return ids;
  }

  /** Which of these have been deleted for good. */
  deletedOf(ids: readonly string[]): Set<string> {
    if (ids.length === 0) return new Set();
    const rows = this.#sql.all(`select id from deleted_record where id in ${GIVEN}`, JSON.stringify(ids));
    return new Set(rows.map((row) => textIn(row, "id")));
  }

  /** Removes records for good: generations that are still under way do not bring them back. */
  bury(ids: readonly string[]): void {
    for (let at = 0; at < ids.length; at += IDS_AT_ONCE) {
      const some = ids.slice(at, at + IDS_AT_ONCE);
      this.forget(some);
      this.#sql.all(
        `insert or replace into deleted_record select value, ? from json_each(?)`,
        this.#now(),
        JSON.stringify(some),
      );
    }
  }

  /** Removes records, of which others may come. */
  forget(ids: readonly string[]): void {
    const given = JSON.stringify(ids);
    this.#sql.all(`delete from record where id in ${GIVEN}`, given);
    this.#texts.deleteOf(`select value from json_each(?)`, given);
  }

  /** Those of which there is a record, or was one. */
  #knownOf(ids: readonly string[]): Set<string> {
    if (ids.length === 0) return new Set();
    const rows = this.#sql.all(`select id from record where id in ${GIVEN}`, JSON.stringify(ids));
    return new Set([...this.deletedOf(ids), ...rows.map((row) => textIn(row, "id"))]);
  }

  #row(id: string): SqlRow | undefined {
    return this.#sql.all("select updated, summary from record where id=?", id)[0];
  }

  /** A summary as it is shown, of what was kept. */
  shown(json: string): HistorySummary {
    // Those of older versions do not tell who was tried, nor whose they are, nor when what happened.
    const since = { tried: [], sign_ins: [], provider: "", key: "", leased_at: 0, first_token_ms: 0 };
    const kept: HistorySummary = { ...since, ...JSON.parse(json) };
    const summary = { ...kept, tried: kept.tried.map((account) => ({ ...account, at: account.at ?? 0 })) };
    if (summary.status !== "streaming" || summary.updated_at > this.#now() - LOST_AFTER_MS) return summary;
    return { ...summary, status: "error", error: INTERRUPTED };
  }
}
