import type { HistorySummary } from "../platform/archive.ts";
import type { PackedRecord, PlacedRecord, RecordPack, TextPlace } from "../platform/record-packs.ts";
import { numberIn, type Sql, type SqlRow, textIn } from "../storage/sql.ts";

/** A pack without its records: `at` and `since` are when the newest and the oldest of its requests came in. */
export interface PackHead {
  readonly at: number;
  readonly since: number;
  readonly records: number;
}

/** Where a record is in an object: its first byte, and how many. */
type Span = readonly [at: number, bytes: number];

/**
 * Records by the pack in which they came: one row for dozens of them, as a row has its price however long it is. What ended
 * first goes first.
 */
export class PackTable {
  readonly #sql: Sql;
  /** The pack of each record. Null: they have not been read yet. */
  #packs: Map<string, number> | null = null;

  /** Makes the table, if there is none. */
  constructor(sql: Sql) {
    this.#sql = sql;
    // The long columns come last: what looks at the others alone does not read them.
    sql.all(
      "create table if not exists pack(seq integer primary key, key text not null, at integer not null, since integer not null, n integer not null, spans text not null, summaries text not null)",
    );
    // Texts that are in the bucket and belong to no record.
    sql.all(
      "create table if not exists stray_text(key text not null, at integer not null, bytes integer not null)",
    );
  }

  /** Whether a database has the table. */
  static isIn(sql: Sql): boolean {
    return sql.all("select name from sqlite_master where type='table' and name='pack'").length > 0;
  }

  /** Records in all packs. */
  get count(): number {
    return this.#known().size;
  }

  /** The keys of all packs, the oldest first. */
  get keys(): string[] {
    return this.#sql.all("select key from pack order by seq").map((row) => textIn(row, "key"));
  }

  has(id: string): boolean {
    return this.#known().has(id);
  }

  /** All packs, those with the newest requests first. */
  heads(): PackHead[] {
    return this.#sql.all("select at, since, n from pack order by at desc").map((row) => ({
      at: numberIn(row, "at"),
      since: numberIn(row, "since"),
      records: numberIn(row, "n"),
    }));
  }

  /** Keeps records; those that it has already are left out. Returns those that are new. */
  put({ key, records }: RecordPack): readonly PackedRecord[] {
    const known = this.#known();
    const fresh = records.filter(({ summary }) => !known.has(summary.id));
    if (fresh.length === 0) return fresh;
    const [row] = this.#sql.all(
      "insert into pack(key, at, since, n, spans, summaries) values(?,0,0,0,'','') returning seq",
      key,
    );
    const seq = numberIn(row, "seq");
    this.#write(
      seq,
      fresh.map(({ summary }) => summary),
      new Map(fresh.map(({ summary, at, bytes }) => [summary.id, [at, bytes]])),
    );
    for (const { summary } of fresh) known.set(summary.id, seq);
    return fresh;
  }

  /** Notes that the texts of some of a pack's records are to be erased: those that were not put, but for those that it has in that pack. */
  refuse({ key, records }: RecordPack): void {
    const known = this.#known();
    for (const { summary, at, bytes } of records) {
      const seq = known.get(summary.id);
      if (seq !== undefined && this.#keyOf(seq) === key) continue;
      this.#sql.all("insert into stray_text(key, at, bytes) values(?,?,?)", key, at, bytes);
    }
  }

  /** Texts that are to be erased, by the key of their pack; null: all of the pack is. */
  strays(): Map<string, TextPlace[] | null> {
    const strays = new Map<string, TextPlace[] | null>();
    for (const row of this.#sql.all(
      "select key, at, bytes, exists(select 1 from pack p where p.key = s.key) as kept from stray_text s",
    )) {
      const key = textIn(row, "key");
      const place = { key, at: numberIn(row, "at"), bytes: numberIn(row, "bytes") };
      strays.set(key, numberIn(row, "kept") > 0 ? [...(strays.get(key) ?? []), place] : null);
    }
    return strays;
  }

  /** The texts that were to be erased of a pack have been. */
  erased(key: string): void {
    this.#sql.all("delete from stray_text where key=?", key);
  }

  /** Whether texts are to be erased. */
  get hasStrays(): boolean {
    return this.#sql.all("select 1 as one from stray_text limit 1").length > 0;
  }

  read(id: string): PlacedRecord | null {
    const seq = this.#known().get(id);
    if (seq === undefined) return null;
    const [row] = this.#sql.all("select key, spans, summaries from pack where seq=?", seq);
    const summary = summariesIn(row).find((one) => one.id === id);
    const span = spansIn(row).get(id);
    if (summary === undefined || span === undefined) return null;
    return { summary, place: { key: textIn(row, "key"), at: span[0], bytes: span[1] } };
  }

  /** Forgets a record; false when there is none. */
  delete(id: string): boolean {
    const seq = this.#known().get(id);
    if (seq === undefined) return false;
    this.#forget(seq, (summary) => summary.id === id);
    return true;
  }

  /** Drops all but `keep` records: of those in the oldest packs first, within one what came in first. */
  trim(keep: number): void {
    while (this.count > keep) {
      const [row] = this.#sql.all("select seq, summaries from pack order by seq limit 1");
      const oldest = summariesIn(row).sort((one, other) => one.created_at - other.created_at);
      const dropped = new Set(oldest.slice(0, this.count - keep).map(({ id }) => id));
      this.#forget(numberIn(row, "seq"), ({ id }) => dropped.has(id));
    }
  }

  /** Forgets the packs with these keys. Returns the ids that were in them. */
  deletePacks(keys: readonly string[]): string[] {
    const known = this.#known();
    const ids: string[] = [];
    for (const key of keys) {
      for (const row of this.#sql.all("select spans from pack where key=?", key))
        ids.push(...spansIn(row).keys());
      this.#sql.all("delete from pack where key=?", key);
    }
    for (const id of ids) known.delete(id);
    return ids;
  }

  /** What is remembered may not have been written: it is read anew. */
  distrust(): void {
    this.#packs = null;
  }

  #keyOf(seq: number): string {
    return textIn(this.#sql.all("select key from pack where seq=?", seq)[0], "key");
  }

  #forget(seq: number, isGone: (summary: HistorySummary) => boolean): void {
    const [row] = this.#sql.all("select spans, summaries from pack where seq=?", seq);
    const known = this.#known();
    const spans = spansIn(row);
    const left: HistorySummary[] = [];
    for (const summary of summariesIn(row)) {
      if (!isGone(summary)) {
        left.push(summary);
        continue;
      }
      known.delete(summary.id);
      spans.delete(summary.id);
    }
    if (left.length === 0) this.#sql.all("delete from pack where seq=?", seq);
    else this.#write(seq, left, spans);
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

  #known(): Map<string, number> {
    this.#packs ??= new Map(
      this.#sql
        .all("select seq, value ->> '$[0]' as id from pack, json_each(spans)")
        .map((row) => [textIn(row, "id"), numberIn(row, "seq")]),
    );
    return this.#packs;
  }
}

function summariesIn(row: SqlRow | undefined): HistorySummary[] {
  const summaries: HistorySummary[] = JSON.parse(textIn(row, "summaries") || "[]");
  return summaries;
}

function spansIn(row: SqlRow | undefined): Map<string, Span> {
  const spans: [string, Span][] = JSON.parse(textIn(row, "spans") || "[]");
  return new Map(spans);
}
