import type { HistorySummary } from "../../core/ports/archive.ts";
import type { LocatedRecord, PackedRecord, RecordPack, TextLocation } from "../../core/ports/record-packs.ts";
import { numberIn, type Sql, type SqlRow, textIn } from "../../core/storage/sql.ts";

/** A pack without its records. */
export interface PackHead {
  /** Arrival times of its newest and of its oldest request, Unix milliseconds. */
  readonly newestAt: number;
  readonly oldestAt: number;
  /** Number of its records. */
  readonly records: number;
}

/** A record's position in an object: first byte and length. */
type Span = readonly [at: number, bytes: number];

/**
 * Records grouped by the pack in which they arrived: one row for dozens of records, because each row has a fixed cost. The
 * packs that ended first are dropped first.
 */
export class PackTable {
  readonly #sql: Sql;
  /** The pack of each record. Null: not read yet. */
  #packsById: Map<string, number> | null = null;

  /** Creates the table if it does not exist. */
  constructor(sql: Sql) {
    this.#sql = sql;
    // The long columns come last: queries of the other columns do not read them.
    sql.all(
      "create table if not exists pack(seq integer primary key, key text not null, at integer not null, since integer not null, n integer not null, spans text not null, summaries text not null)",
    );
    // Texts in the bucket that belong to no stored record.
    sql.all(
      "create table if not exists stray_text(key text not null, at integer not null, bytes integer not null)",
    );
  }

  /** Whether the database has the table. */
  static existsIn(sql: Sql): boolean {
    return sql.all("select name from sqlite_master where type='table' and name='pack'").length > 0;
  }

  /** Number of records in all packs. */
  get count(): number {
    return this.#getPacksById().size;
  }

  /** The keys of all packs, oldest first. */
  get keys(): string[] {
    return this.#sql.all("select key from pack order by seq").map((row) => textIn(row, "key"));
  }

  has(id: string): boolean {
    return this.#getPacksById().has(id);
  }

  /** All packs, those with the newest requests first. */
  heads(): PackHead[] {
    return this.#sql.all("select at, since, n from pack order by at desc").map((row) => ({
      newestAt: numberIn(row, "at"),
      oldestAt: numberIn(row, "since"),
      records: numberIn(row, "n"),
    }));
  }

  /** Stores records and skips known ones. Returns the new ones. */
  put({ key, records }: RecordPack): readonly PackedRecord[] {
    const known = this.#getPacksById();
    const newRecords = records.filter(({ summary }) => !known.has(summary.id));
    if (newRecords.length === 0) return newRecords;
    const [row] = this.#sql.all(
      "insert into pack(key, at, since, n, spans, summaries) values(?,0,0,0,'','') returning seq",
      key,
    );
    const seq = numberIn(row, "seq");
    this.#write(
      seq,
      newRecords.map(({ summary }) => summary),
      new Map(newRecords.map(({ summary, at, bytes }) => [summary.id, [at, bytes]])),
    );
    for (const { summary } of newRecords) known.set(summary.id, seq);
    return newRecords;
  }

  /** Marks the texts of a pack's unstored records for erasure. Skips records that are stored from this very pack. */
  markForErasure({ key, records }: RecordPack): void {
    const known = this.#getPacksById();
    for (const { summary, at, bytes } of records) {
      const seq = known.get(summary.id);
      if (seq !== undefined && this.#keyOf(seq) === key) continue;
      this.#sql.all("insert into stray_text(key, at, bytes) values(?,?,?)", key, at, bytes);
    }
  }

  /** Texts to erase, by the key of their pack; null: delete the whole pack. */
  listStrayTexts(): Map<string, TextLocation[] | null> {
    const strayTexts = new Map<string, TextLocation[] | null>();
    for (const row of this.#sql.all(
      "select key, at, bytes, exists(select 1 from pack p where p.key = s.key) as kept from stray_text s",
    )) {
      const key = textIn(row, "key");
      const location = { key, at: numberIn(row, "at"), bytes: numberIn(row, "bytes") };
      strayTexts.set(key, numberIn(row, "kept") > 0 ? [...(strayTexts.get(key) ?? []), location] : null);
    }
    return strayTexts;
  }

  /** Records that a pack's stray texts are erased. */
  unmarkStrays(key: string): void {
    this.#sql.all("delete from stray_text where key=?", key);
  }

  /** Whether there are texts to erase. */
  get hasStrayTexts(): boolean {
    return this.#sql.all("select 1 as one from stray_text limit 1").length > 0;
  }

  read(id: string): LocatedRecord | null {
    const seq = this.#getPacksById().get(id);
    if (seq === undefined) return null;
    const [row] = this.#sql.all("select key, spans, summaries from pack where seq=?", seq);
    const summary = parseSummaries(row).find((entry) => entry.id === id);
    const span = parseSpans(row).get(id);
    if (summary === undefined || span === undefined) return null;
    return { summary, place: { key: textIn(row, "key"), at: span[0], bytes: span[1] } };
  }

  /** Deletes a record; false if it does not exist. */
  delete(id: string): boolean {
    const seq = this.#getPacksById().get(id);
    if (seq === undefined) return false;
    this.#removeRecords(seq, (summary) => summary.id === id);
    return true;
  }

  /** Deletes the records of an API key, and marks their texts for erasure. Returns their ids. */
  eraseKey(key: string): string[] {
    const ids: string[] = [];
    const packs = this.#sql.all(
      "select distinct p.seq from pack p, json_each(p.summaries) e where json_extract(e.value, '$.key')=?",
      key,
    );
    for (const seq of packs.map((row) => numberIn(row, "seq"))) {
      const [row] = this.#sql.all("select key, spans, summaries from pack where seq=?", seq);
      const spans = parseSpans(row);
      for (const summary of parseSummaries(row)) {
        const span = spans.get(summary.id);
        if (summary.key !== key || span === undefined) continue;
        this.#sql.all("insert into stray_text(key, at, bytes) values(?,?,?)", textIn(row, "key"), ...span);
        ids.push(summary.id);
      }
      this.#removeRecords(seq, (summary) => summary.key === key);
    }
    return ids;
  }

  /** Keeps `maxRecords` records: drops from the oldest packs first, and within a pack the earliest requests first. */
  trim(maxRecords: number): void {
    while (this.count > maxRecords) {
      const [row] = this.#sql.all("select seq, summaries from pack order by seq limit 1");
      const oldestFirst = parseSummaries(row).sort((a, b) => a.created_at - b.created_at);
      const dropped = new Set(oldestFirst.slice(0, this.count - maxRecords).map(({ id }) => id));
      this.#removeRecords(numberIn(row, "seq"), ({ id }) => dropped.has(id));
    }
  }

  /** Deletes the packs with these keys. Returns the ids of their records. */
  deletePacks(keys: readonly string[]): string[] {
    const known = this.#getPacksById();
    const ids: string[] = [];
    for (const key of keys) {
      for (const row of this.#sql.all("select spans from pack where key=?", key))
        ids.push(...parseSpans(row).keys());
      this.#sql.all("delete from pack where key=?", key);
    }
    for (const id of ids) known.delete(id);
    return ids;
  }

  /** Drops cached state after a failed write. */
  invalidateCache(): void {
    this.#packsById = null;
  }

  #keyOf(seq: number): string {
    return textIn(this.#sql.all("select key from pack where seq=?", seq)[0], "key");
  }

  #removeRecords(seq: number, isDeleted: (summary: HistorySummary) => boolean): void {
    const [row] = this.#sql.all("select spans, summaries from pack where seq=?", seq);
    const known = this.#getPacksById();
    const spans = parseSpans(row);
    const remaining: HistorySummary[] = [];
    for (const summary of parseSummaries(row)) {
      if (!isDeleted(summary)) {
        remaining.push(summary);
        continue;
      }
      known.delete(summary.id);
      spans.delete(summary.id);
    }
    if (remaining.length === 0) this.#sql.all("delete from pack where seq=?", seq);
    else this.#write(seq, remaining, spans);
  }

  #write(seq: number, summaries: readonly HistorySummary[], spans: ReadonlyMap<string, Span>): void {
    const times = summaries.map(({ created_at }) => created_at);
    this.#sql.all(
      "update pack set at=?, since=?, n=?, spans=?, summaries=? where seq=?",
      Math.max(...times),
      Math.min(...times),
      summaries.length,
      JSON.stringify([...spans]),
      JSON.stringify(summaries),
      seq,
    );
  }

  #getPacksById(): Map<string, number> {
    this.#packsById ??= new Map(
      this.#sql
        .all("select seq, value ->> '$[0]' as id from pack, json_each(spans)")
        .map((row) => [textIn(row, "id"), numberIn(row, "seq")]),
    );
    return this.#packsById;
  }
}

function parseSummaries(row: SqlRow | undefined): HistorySummary[] {
  const summaries: HistorySummary[] = JSON.parse(textIn(row, "summaries") || "[]");
  return summaries;
}

function parseSpans(row: SqlRow | undefined): Map<string, Span> {
  const spans: [string, Span][] = JSON.parse(textIn(row, "spans") || "[]");
  return new Map(spans);
}
