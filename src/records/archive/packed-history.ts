import {
  type HistoryFilter,
  type HistoryQuery,
  type HistoryRecord,
  type HistorySummary,
  type HistoryWrite,
  isRefusalId,
} from "../../core/ports/archive.ts";
import type { LocatedRecord, RecordPack, TextLocation } from "../../core/ports/record-packs.ts";
import { numberIn, type Sql, type SqlValue, textIn } from "../../core/storage/sql.ts";
import { buildCondition } from "./history-filter.ts";
import { BOUND_IDS, type HistoryTable } from "./history-table.ts";
import { type PackHead, PackTable } from "./pack-table.ts";
import { RunningRecords } from "./running-records.ts";

/** Limit of characters of running records' summaries in one bound value: Durable Objects allow 2 MB. */
const VALUE_CHARS = 400_000;

/** The columns that conditions use, extracted from JSON summaries. */
const conditionColumns = (json: string) =>
  `json_extract(${json}, '$.created_at') as created, json_extract(${json}, '$.updated_at') as updated, ${json} as summary`;

/**
 * Added to the `seq` of packed records, to keep them distinct from single records and from each other. Running records have
 * negative numbers.
 */
const PACKED_SEQ_BASE = 1e12;
const PACKED_SEQ = `${PACKED_SEQ_BASE} + p.seq * 1000 + e.key`;

/** The records between two times (after the first value, before the second): single records, and those in packs. */
const SELECT_STORED = `select seq, created, updated, summary from record where created > ?1 and created < ?2
  union all select ${PACKED_SEQ}, ${conditionColumns("e.value")}
    from pack p, json_each(p.summaries) e where p.at > ?1 and p.since < ?2`;

/** The running records, from several bound values: a statement may join five selects, but any number of rows. */
const selectRunning = (values: number) =>
  `select -(row_number() over ()), ${conditionColumns("e.value")} from (values ${Array.from({ length: values }, () => "(?)").join()}) v, json_each(v.column1) e`;

/**
 * The history where a bucket stores the texts: ended records arrive in packs, and running ones are in memory. Records from
 * before the packs, and those of refused requests, are in the table of single records. Lists combine all three.
 */
export class PackedHistory {
  readonly #sql: Sql;
  readonly #singleRecords: HistoryTable;
  readonly #packs: PackTable;
  readonly #running = new RunningRecords();
  readonly #now: () => number;

  /** @param singleRecords the table of single records, in the same database */
  constructor(sql: Sql, singleRecords: HistoryTable, now: () => number) {
    this.#sql = sql;
    this.#singleRecords = singleRecords;
    this.#packs = new PackTable(sql);
    this.#now = now;
  }

  /** Whether a database stores packs, or has stored some. */
  static existsIn(sql: Sql): boolean {
    return PackTable.existsIn(sql);
  }

  /**
   * Stores an isolate's message. The caller must run it in a transaction, and call {@link invalidateCache} if that fails.
   *
   * @param unpacked updates of running generations, and records of refused requests
   * @param maxRecords number of records to keep
   * @param sentAt see `ArchiveBatch`
   */
  write(
    unpacked: readonly HistoryWrite[],
    packs: readonly RecordPack[],
    maxRecords: number,
    sentAt?: number,
  ): void {
    if (maxRecords === 0) {
      for (const pack of packs) this.#packs.markForErasure(pack);
      return;
    }
    const refusals = unpacked.filter(({ summary }) => isRefusalId(summary.id));
    const running = unpacked.filter((write) => !refusals.includes(write));
    const summaries = [...unpacked, ...packs.flatMap(({ records }) => records)].map(({ summary }) => summary);
    // A running record that seemed younger than the clearing may still be listed.
    for (const id of this.#singleRecords.deleteCleared(summaries, sentAt)) this.#running.remove(id);
    for (const pack of packs) {
      const deleted = this.#singleRecords.findDeleted(pack.records.map(({ summary }) => summary.id));
      const records = pack.records.filter(({ summary }) => !deleted.has(summary.id));
      const stored = this.#packs.put({ ...pack, records });
      if (stored.length < pack.records.length) {
        this.#packs.markForErasure({
          ...pack,
          records: pack.records.filter((record) => !stored.includes(record)),
        });
      }
      const newIds = stored.map(({ summary }) => summary.id);
      for (const id of newIds) this.#running.remove(id);
      this.#singleRecords.deleteReplaceable(newIds);
    }
    const ids = running.map(({ summary }) => summary.id);
    const deleted = this.#singleRecords.findDeleted(ids);
    // `storeLost` may have stored a running record whose updates were late.
    if (this.#singleRecords.count > 0) this.#singleRecords.deleteReplaceable(ids);
    for (const update of running) {
      const { id } = update.summary;
      if (!this.#packs.has(id) && !deleted.has(id)) this.#running.put(update, this.#now());
    }
    this.#singleRecords.putAll(refusals);
    if (packs.length > 0 || refusals.length > 0) this.trim(maxRecords);
  }

  /** Keeps `maxRecords` records; those from before the packs are dropped first. */
  trim(maxRecords: number): void {
    this.#packs.trim(maxRecords);
    this.#singleRecords.trim(Math.max(0, maxRecords - this.#packs.count), maxRecords);
  }

  /** Keeps `maxRecords` records after packs were switched off: drops the packs first. */
  trimPacks(maxRecords: number): void {
    this.#packs.trim(Math.max(0, maxRecords - this.#singleRecords.generationCount));
  }

  /** Stores running generations as lost if they had no update for long. */
  storeLost(): void {
    const lost = this.#running.findLost(this.#now());
    for (const write of lost) this.#singleRecords.put(write);
    for (const { summary } of lost) this.#running.remove(summary.id);
  }

  list({ offset, count, q, filter = {}, uncounted = false }: HistoryQuery): {
    items: HistorySummary[];
    total: number;
  } {
    const heads = this.#packs.heads().filter((head) => overlaps(head, filter));
    const search = new HistorySearch(filter, q, this.#now(), this.#running.summaries);
    if (!uncounted && !search.isAll) return this.#search(search, offset, count);
    // The newest packs are enough, unless few of their records match: then it searches more packs.
    for (let packCount = countPacksFor(heads, offset + count); ; packCount = packCount * 4 + 1) {
      const rows = this.#sql.all(
        `select summary from (${search.source})${search.where} order by created desc, seq desc limit ? offset ?`,
        heads[packCount]?.newestAt ?? Number.MIN_SAFE_INTEGER,
        ...search.values,
        count,
        offset,
      );
      if (rows.length < count && packCount < heads.length) continue;
      const items = rows.map((row) => this.#singleRecords.toSummary(textIn(row, "summary")));
      return { items, total: uncounted ? 0 : this.#packs.count + search.running + this.#singleRecords.count };
    }
  }

  /** A record; without its texts if the bucket stores them. */
  read(id: string): HistoryRecord | LocatedRecord | null {
    return this.#running.read(id) ?? this.#packs.read(id) ?? this.#singleRecords.read(id);
  }

  /** Where a record's texts are in the bucket; null: in this database, or there is no such record. */
  placeOf(id: string): LocatedRecord["place"] | null {
    return this.#packs.read(id)?.place ?? null;
  }

  /** Deletes a record for good: a running generation does not bring it back. False if it does not exist. */
  delete(id: string): boolean {
    const wasDeleted = [this.#running.remove(id), this.#packs.delete(id)].includes(true);
    if (wasDeleted) this.#singleRecords.deletePermanently([id]);
    return this.#singleRecords.delete(id) || wasDeleted;
  }

  /**
   * Deletes all records, except in packs that are not among `keys`, because they arrived later. Returns the number deleted.
   */
  clear(keys: readonly string[]): number {
    const running = this.#running.summaries.map(({ id }) => id);
    for (const id of running) this.#running.remove(id);
    const packed = this.#packs.deletePacks(keys);
    this.#singleRecords.deletePermanently([...running, ...packed]);
    return this.#singleRecords.clear() + running.length + packed.length;
  }

  /** Deletes the running and the packed records of an API key for good, and marks their texts. Returns their number. */
  eraseKey(key: string): number {
    const running = this.#running.summaries.filter((summary) => summary.key === key).map(({ id }) => id);
    for (const id of running) this.#running.remove(id);
    const packed = this.#packs.eraseKey(key);
    this.#singleRecords.deletePermanently([...running, ...packed]);
    return running.length + packed.length;
  }

  /** The keys of all packs, oldest first. */
  get keys(): string[] {
    return this.#packs.keys;
  }

  /** Whether there are running generations, which may get lost. */
  get hasRunning(): boolean {
    return this.#running.summaries.length > 0;
  }

  /**
   * Texts in the bucket that belong to no stored record, by the key of their pack: of records that were deleted before their
   * pack arrived, or that arrived twice. The caller erases them and then calls {@link unmarkStrays}. Null: delete the
   * whole pack.
   */
  listStrayTexts(): Map<string, TextLocation[] | null> {
    return this.#packs.listStrayTexts();
  }

  /** Records that a pack's stray texts are erased. */
  unmarkStrays(key: string): void {
    this.#packs.unmarkStrays(key);
  }

  /** Whether there are stray texts. */
  get hasStrayTexts(): boolean {
    return this.#packs.hasStrayTexts;
  }

  /** Drops cached state after a failed write. */
  invalidateCache(): void {
    this.#packs.invalidateCache();
  }

  /** Searching all records is expensive: one search gives both the page and the total. */
  #search(search: HistorySearch, offset: number, count: number): { items: HistorySummary[]; total: number } {
    const matches = this.#sql.all(
      `select seq from (${search.source})${search.where} order by created desc, seq desc`,
      Number.MIN_SAFE_INTEGER,
      ...search.values,
    );
    const page = matches.slice(offset, offset + count).map((row) => numberIn(row, "seq"));
    const packs = page
      .filter((seq) => seq >= PACKED_SEQ_BASE)
      .map((seq) => Math.floor((seq - PACKED_SEQ_BASE) / 1000));
    const rows = this.#sql.all(
      `select seq, summary from record where seq in ${BOUND_IDS}
        union all select ${PACKED_SEQ}, e.value from pack p, json_each(p.summaries) e
          where p.seq in ${BOUND_IDS} and ${PACKED_SEQ} in ${BOUND_IDS}`,
      JSON.stringify(page),
      JSON.stringify(packs),
      JSON.stringify(page),
    );
    const summaries = new Map(rows.map((row) => [numberIn(row, "seq"), textIn(row, "summary")]));
    const running = this.#running.summaries;
    const getJson = (seq: number) =>
      seq < 0 ? JSON.stringify(running[-seq - 1]) : (summaries.get(seq) ?? "");
    const items = page.map((seq) => this.#singleRecords.toSummary(getJson(seq)));
    return { items, total: matches.length };
  }
}

/** The query of a list as SQL. The first bound value of each statement is the time after which to search. */
class HistorySearch {
  readonly source: string;
  readonly where: string;
  readonly values: readonly SqlValue[];
  /** Number of running generations. */
  readonly running: number;
  /** Whether there is no condition at all. */
  readonly isAll: boolean;

  constructor(filter: HistoryFilter, q: string, now: number, summaries: readonly HistorySummary[]) {
    const chunks = toJsonChunks(summaries);
    const { where, values } = buildCondition(filter, q, now);
    this.source =
      chunks.length === 0 ? SELECT_STORED : `${SELECT_STORED} union all ${selectRunning(chunks.length)}`;
    this.where = `${where === "" ? " where" : `${where} and`} created > ?1`;
    this.values = [filter.to ?? Number.MAX_SAFE_INTEGER, ...chunks, ...values];
    this.running = summaries.length;
    this.isAll = where === "";
  }
}

/** Splits summaries into JSON arrays that fit into bound values. */
function toJsonChunks(summaries: readonly HistorySummary[]): string[] {
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

function overlaps({ newestAt, oldestAt }: PackHead, { from, to }: HistoryFilter): boolean {
  return (from === undefined || newestAt >= from) && (to === undefined || oldestAt < to);
}

/** How many of the newest packs hold this many records. */
function countPacksFor(heads: readonly PackHead[], records: number): number {
  let count = 0;
  const last = heads.findIndex((head) => {
    count += head.records;
    return count >= records;
  });
  return last === -1 ? heads.length : last + 1;
}
