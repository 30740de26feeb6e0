import type { HistoryQuery, HistoryRecord, HistorySummary, HistoryWrite } from "../platform/archive.ts";
import { numberIn, type Sql, type SqlRow, textIn } from "../storage/sql.ts";
import type { TextTable } from "../storage/texts.ts";

/** A record that says that it streams, but of which nobody has heard for this long, has lost its isolate. */
const LOST_AFTER_MS = 15 * 60_000;

const INTERRUPTED = "the generation was interrupted";

/** A deleted record may still be written to for this long by the generation that it belongs to. */
const TOMBSTONE_MS = 60 * 60_000;

/**
 * Whether a summary has a text in it, as people see it: in its texts, in the status with its code ("error 429"), or in what is
 * told of the accounts that failed. Not `like`: Durable Objects refuse patterns of more than 50 bytes.
 */
const HAS_TEXT = `exists(select 1 from json_each(summary) where instr(lower(case
  when key = 'status' then value || ' ' || (summary ->> '$.status_code')
  when type = 'text' or key = 'tried' then value
  else '' end), lower(?)) > 0)`;

/** What is known of a record: one row, whose `updated` is null if there is none. */
const KNOWN = `select
  (select updated from record where id = ?1) as updated,
  (select json_extract(summary, '$.status') from record where id = ?1) as status,
  exists(select 1 from deleted_record where id = ?1) as deleted`;

/** The history's records. What is written later about a record replaces what was known of it. */
export class HistoryTable {
  readonly #sql: Sql;
  readonly #texts: TextTable;
  readonly #now: () => number;

  constructor(sql: Sql, texts: TextTable, now: () => number) {
    this.#sql = sql;
    this.#texts = texts;
    this.#now = now;
    sql.all(
      "create table if not exists record(seq integer primary key, id text unique not null, created integer not null, updated integer not null, summary text not null)",
    );
    sql.all("create index if not exists record_created on record(created, seq)");
    sql.all(
      "create table if not exists deleted_record(id text primary key, at integer not null) without rowid",
    );
  }

  /** Inserts or replaces a record. News that is older than what is known is dropped; an outcome never is, whatever clocks say. */
  put({ summary, request, reasoning, content }: HistoryWrite): void {
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
    const texts = { ...(request === null ? {} : request), reasoning, content };
    if (fresh) this.#texts.putFresh(id, texts);
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
    const old = "select id from record order by created desc, seq desc limit -1 offset ?";
    if (this.#sql.all(old, keep).length > 0) {
      this.#texts.deleteOf(old, keep);
      this.#sql.all(`delete from record where id in (${old})`, keep);
    }
    this.#sql.all("delete from deleted_record where at<?", this.#now() - TOMBSTONE_MS);
  }

  list({ offset, count, q }: HistoryQuery): { items: HistorySummary[]; total: number } {
    const where = q === "" ? "" : `where ${HAS_TEXT}`;
    const filter = q === "" ? [] : [q];
    const total = numberIn(this.#sql.all(`select count(*) as n from record ${where}`, ...filter)[0], "n");
    const rows = this.#sql.all(
      `select summary from record ${where} order by created desc, seq desc limit ? offset ?`,
      ...filter,
      count,
      offset,
    );
    return { items: rows.map((row) => this.#summary(row)), total };
  }

  read(id: string): HistoryRecord | null {
    const row = this.#row(id);
    if (row === undefined) return null;
    const text = (name: string) => this.#texts.get(id, name);
    return {
      ...this.#summary(row),
      messages: text("messages") || "[]",
      prompt: text("prompt"),
      reasoning: text("reasoning"),
      content: text("content"),
    };
  }

  delete(id: string): boolean {
    if (this.#row(id) === undefined) return false;
    this.#bury(id);
    return true;
  }

  clear(): number {
    const rows = this.#sql.all("select id from record");
    for (const row of rows) this.#bury(textIn(row, "id"));
    return rows.length;
  }

  /** Removes a record for good: a generation that is still under way does not bring it back. */
  #bury(id: string): void {
    this.#remove(id);
    this.#sql.all("insert or replace into deleted_record values(?,?)", id, this.#now());
  }

  #remove(id: string): void {
    this.#sql.all("delete from record where id=?", id);
    this.#texts.delete(id);
  }

  #row(id: string): SqlRow | undefined {
    return this.#sql.all("select updated, summary from record where id=?", id)[0];
  }

  #summary(row: SqlRow): HistorySummary {
    // Those of older versions do not tell who was tried, nor whose they are.
    const summary: HistorySummary = { tried: [], key: "", ...JSON.parse(textIn(row, "summary")) };
    if (summary.status !== "streaming" || summary.updated_at > this.#now() - LOST_AFTER_MS) return summary;
    return { ...summary, status: "error", error: INTERRUPTED };
  }
}
