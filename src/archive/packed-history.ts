import type {
  HistoryFilter,
  HistoryQuery,
  HistoryRecord,
  HistorySummary,
  HistoryWrite,
} from "../platform/archive.ts";
import type { PlacedRecord, RecordPack, TextPlace } from "../platform/record-packs.ts";
import { numberIn, type Sql, type SqlValue, textIn } from "../storage/sql.ts";
import { conditionOf } from "./history-filter.ts";
import { GIVEN, type HistoryTable } from "./history-table.ts";
import { type PackHead, PackTable } from "./pack-table.ts";
import { RunningRecords } from "./running-records.ts";

/** Characters of running records' summaries that one value of a statement has: Durable Objects take 2 MB. */
const VALUE_CHARS = 400_000;

/** The columns that conditions look at, of summaries as JSON. */
const COLUMNS = (json: string) =>
  `json_extract(${json}, '$.created_at') as created, json_extract(${json}, '$.updated_at') as updated, ${json} as summary`;

/** Tells records in packs apart from single ones, and from each other; of those that run it is below 0. */
const PACKED = 1e12;
const PACKED_SEQ = `${PACKED} + p.seq * 1000 + e.key`;

/** The records of a time (behind the first value, before the second): those in the table of single records, and those in packs. */
const KEPT = `select seq, created, updated, summary from record where created > ?1 and created < ?2
  union all select ${PACKED_SEQ}, ${COLUMNS("e.value")}
    from pack p, json_each(p.summaries) e where p.at > ?1 and p.since < ?2`;

/** The running ones, in so many values: a statement may join five selections, and any number of rows. */
const running = (values: number) =>
  `select -(row_number() over ()), ${COLUMNS("e.value")} from (values ${Array.from({ length: values }, () => "(?)").join()}) v, json_each(v.column1) e`;

/**
 * The history where texts are kept elsewhere: what has ended comes in packs, what runs is held in memory, and what was there before the
 * packs stays where it is. Lists show all of it as one.
 */
export class PackedHistory {
  readonly #sql: Sql;
  readonly #single: HistoryTable;
  readonly #packs: PackTable;
  readonly #running = new RunningRecords();
  readonly #now: () => number;

  /** @param single the table of single records, in the same database */
  constructor(sql: Sql, single: HistoryTable, now: () => number) {
    this.#sql = sql;
    this.#single = single;
    this.#packs = new PackTable(sql);
    this.#now = now;
  }

  /** Whether a database holds packs, or has held some. */
  static isIn(sql: Sql): boolean {
    return PackTable.isIn(sql);
  }

  /**
   * Takes what an isolate tells. All of it or nothing is kept: whoever calls it sees to that, and calls {@link distrust} otherwise.
   *
   * @param running news of generations under way
   * @param keep how many records are kept
   * @param sentAt see `ArchiveBatch`
   */
  write(running: readonly HistoryWrite[], packs: readonly RecordPack[], keep: number, sentAt?: number): void {
    if (keep === 0) {
      for (const pack of packs) this.#packs.refuse(pack);
      return;
    }
    const told = [...running, ...packs.flatMap(({ records }) => records)].map(({ summary }) => summary);
    // One that was taken for younger may be shown still.
    for (const id of this.#single.buryCleared(told, sentAt)) this.#running.forget(id);
    for (const pack of packs) {
      const deleted = this.#single.deletedOf(pack.records.map(({ summary }) => summary.id));
      const records = pack.records.filter(({ summary }) => !deleted.has(summary.id));
      const put = this.#packs.put({ ...pack, records });
      if (put.length < pack.records.length) {
        this.#packs.refuse({ ...pack, records: pack.records.filter((record) => !put.includes(record)) });
      }
      const fresh = put.map(({ summary }) => summary.id);
      for (const id of fresh) this.#running.forget(id);
      this.#single.forget(fresh);
    }
    const ids = running.map(({ summary }) => summary.id);
    const deleted = this.#single.deletedOf(ids);
    // One that was held for lost.
    if (this.#single.count > 0) this.#single.forget(ids);
    for (const news of running) {
      const { id } = news.summary;
      if (!this.#packs.has(id) && !deleted.has(id)) this.#running.put(news, this.#now());
    }
    if (packs.length > 0) this.trim(keep);
  }

  /** Drops all but `keep` records: those from before the packs first. */
  trim(keep: number): void {
    this.#packs.trim(keep);
    this.#single.trim(Math.max(0, keep - this.#packs.count));
  }

  /** The same where no packs come any more: those that there are go first. */
  trimPacks(keep: number): void {
    this.#packs.trim(Math.max(0, keep - this.#single.count));
  }

  /** Writes down the generations of which nobody has heard for long. */
  settleLost(): void {
    const lost = this.#running.lost(this.#now());
    for (const write of lost) this.#single.put(write);
    for (const { summary } of lost) this.#running.forget(summary.id);
  }

  list({ offset, count, q, filter = {}, uncounted = false }: HistoryQuery): {
    items: HistorySummary[];
    total: number;
  } {
    const heads = this.#packs.heads().filter((head) => overlaps(head, filter));
    const wanted = new Wanted(filter, q, this.#now(), this.#running.summaries);
    if (!uncounted && !wanted.isAll) return this.#search(wanted, offset, count);
    // Those of the newest packs will do, unless few of them are what is looked for: then more are looked into.
    for (let taken = packsFor(heads, offset + count); ; taken = taken * 4 + 1) {
      const rows = this.#sql.all(
        `select summary from (${wanted.source})${wanted.where} order by created desc, seq desc limit ? offset ?`,
        heads[taken]?.at ?? Number.MIN_SAFE_INTEGER,
        ...wanted.values,
        count,
        offset,
      );
      if (rows.length < count && taken < heads.length) continue;
      const items = rows.map((row) => this.#single.shown(textIn(row, "summary")));
      return { items, total: uncounted ? 0 : this.#packs.count + wanted.running + this.#single.count };
    }
  }

  /** A record; without its texts where those are kept elsewhere. */
  read(id: string): HistoryRecord | PlacedRecord | null {
    return this.#running.read(id) ?? this.#packs.read(id) ?? this.#single.read(id);
  }

  /** Where a record's texts are; null: here, or nowhere. */
  placeOf(id: string): PlacedRecord["place"] | null {
    return this.#packs.read(id)?.place ?? null;
  }

  /** Removes a record for good: a generation that is still under way does not bring it back. False when there is none. */
  delete(id: string): boolean {
    const isHere = [this.#running.forget(id), this.#packs.delete(id)].includes(true);
    if (isHere) this.#single.bury([id]);
    return this.#single.delete(id) || isHere;
  }

  /** Removes all records but those of packs that have come since. Returns how many there were. */
  clear(keys: readonly string[]): number {
    const running = this.#running.summaries.map(({ id }) => id);
    for (const id of running) this.#running.forget(id);
    const packed = this.#packs.deletePacks(keys);
    this.#single.bury([...running, ...packed]);
    return this.#single.clear() + running.length + packed.length;
  }

  /** The keys of all packs, the oldest first. */
  get keys(): string[] {
    return this.#packs.keys;
  }

  /** Whether there are generations under way, which may be lost. */
  get isWaiting(): boolean {
    return this.#running.summaries.length > 0;
  }

  /**
   * Texts that the bucket has of records that are not kept, by the key of their pack: of what was deleted before it was told of, or came
   * twice. They are to be erased, and {@link erased} is to be called then. Null: all of the pack is.
   */
  strays(): Map<string, TextPlace[] | null> {
    return this.#packs.strays();
  }

  /** The strays of a pack are no more. */
  erased(key: string): void {
    this.#packs.erased(key);
  }

  /** Whether there are strays. */
  get hasStrays(): boolean {
    return this.#packs.hasStrays;
  }

  /** A write was not kept: what is remembered of packs is read anew. */
  distrust(): void {
    this.#packs.distrust();
  }

  /** To look through all records is dear: once for both answers. */
  #search(wanted: Wanted, offset: number, count: number): { items: HistorySummary[]; total: number } {
    const found = this.#sql.all(
      `select seq from (${wanted.source})${wanted.where} order by created desc, seq desc`,
      Number.MIN_SAFE_INTEGER,
      ...wanted.values,
    );
    const page = found.slice(offset, offset + count).map((row) => numberIn(row, "seq"));
    const packs = page.filter((seq) => seq >= PACKED).map((seq) => Math.floor((seq - PACKED) / 1000));
    const rows = this.#sql.all(
      `select seq, summary from record where seq in ${GIVEN}
        union all select ${PACKED_SEQ}, e.value from pack p, json_each(p.summaries) e
          where p.seq in ${GIVEN} and ${PACKED_SEQ} in ${GIVEN}`,
      JSON.stringify(page),
      JSON.stringify(packs),
      JSON.stringify(page),
    );
    const kept = new Map(rows.map((row) => [numberIn(row, "seq"), textIn(row, "summary")]));
    const running = this.#running.summaries;
    const jsonOf = (seq: number) => (seq < 0 ? JSON.stringify(running[-seq - 1]) : (kept.get(seq) ?? ""));
    const items = page.map((seq) => this.#single.shown(jsonOf(seq)));
    return { items, total: found.length };
  }
}

/** What is looked for, as SQL. The first value of each statement is the time behind which it looks. */
class Wanted {
  readonly source: string;
  readonly where: string;
  readonly values: readonly SqlValue[];
  /** Generations under way. */
  readonly running: number;
  /** Nothing is asked of the records. */
  readonly isAll: boolean;

  constructor(filter: HistoryFilter, q: string, now: number, summaries: readonly HistorySummary[]) {
    const chunks = inChunks(summaries);
    const { where, values } = conditionOf(filter, q, now);
    this.source = chunks.length === 0 ? KEPT : `${KEPT} union all ${running(chunks.length)}`;
    this.where = `${where === "" ? " where" : `${where} and`} created > ?1`;
    this.values = [filter.to ?? Number.MAX_SAFE_INTEGER, ...chunks, ...values];
    this.running = summaries.length;
    this.isAll = where === "";
  }
}

/** Summaries as JSON arrays that a statement can take. */
function inChunks(summaries: readonly HistorySummary[]): string[] {
  const chunks: string[][] = [];
  let chars = VALUE_CHARS;
  for (const summary of summaries) {
    const json = JSON.stringify(summary);
    if (chars + json.length > VALUE_CHARS) {
      chunks.push([]);
      chars = 0;
    }
    chunks.at(-1)?.push(json);
    chars += json.length;
  }
  return chunks.map((chunk) => `[${chunk.join()}]`);
}

function overlaps({ at, since }: PackHead, { from, to }: HistoryFilter): boolean {
  return (from === undefined || at >= from) && (to === undefined || since < to);
}

/** How many of the newest packs have so many records. */
function packsFor(heads: readonly PackHead[], records: number): number {
  let found = 0;
  const last = heads.findIndex((head) => {
    found += head.records;
    return found >= records;
  });
  return last === -1 ? heads.length : last + 1;
}
