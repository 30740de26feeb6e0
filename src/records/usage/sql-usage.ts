import type { ConfigSnapshot } from "../../core/config/snapshot.ts";
import type { ActivityQuery, ActivityReport } from "../../core/ports/activity.ts";
import {
  type KeyUsage,
  type RequestUsage,
  USAGE_DIMENSIONS,
  USAGE_SUMS,
  USAGE_TIMES,
  type UsageDelta,
  type UsageDimensions,
  type UsageMessage,
  type UsageQuery,
  type UsageReport,
  type UsageStore,
} from "../../core/ports/usage.ts";
import { MAX_DATE_MS, retryWithoutDamagedRows, type TableCheck } from "../../core/storage/damaged-rows.ts";
import { amountIn, numberIn, type Sql, type SqlRow, textIn } from "../../core/storage/sql.ts";
import { DAY_MS } from "../../core/units.ts";
import { DayRowLimits } from "./day-row-limits.ts";
import { createDimensionTable } from "./dimension-table.ts";
import { mergeBuckets, parseBuckets } from "./histogram.ts";
import { parseSums, UsageReader } from "./reader.ts";
import { ACTIVITY_CHECKS, SqlActivity } from "./sql-activity.ts";
import { addMissingColumns, statedSum } from "./sum-columns.ts";
import { DAYS_KEPT_MS, HOURS_KEPT_MS } from "./time-range.ts";
import { UsageTally } from "./usage-tally.ts";

/**
 * How long the last sequence number of each sender is stored. Older messages are ignored, because they may have been counted
 * already.
 */
const SENDERS_KEPT_MS = 7 * DAY_MS;
/** Days whose row limits are in memory: a message may arrive after midnight. */
const DAYS_IN_MEMORY = 3;

const DIMENSIONS = USAGE_DIMENSIONS.join(", ");
const COLUMNS = [...USAGE_SUMS, ...USAGE_TIMES].join(", ");
const PLACEHOLDERS = [...USAGE_SUMS, ...USAGE_TIMES].map(() => "?").join(", ");

const SUM_CHECKS = Object.fromEntries(USAGE_SUMS.map((name) => [name, null]));
const TIME_CHECKS = Object.fromEntries(USAGE_TIMES.map((name) => [name, "object" as const]));
const CHECKS: readonly TableCheck[] = [
  { table: "usage_hour", numbers: { at: MAX_DATE_MS, ...SUM_CHECKS }, json: TIME_CHECKS },
  { table: "usage_day", numbers: { at: MAX_DATE_MS, ...SUM_CHECKS }, json: TIME_CHECKS },
  { table: "usage_key", numbers: { last_used: MAX_DATE_MS, ...SUM_CHECKS } },
  { table: "usage_sender", numbers: { sequence: Number.MAX_SAFE_INTEGER, heard: MAX_DATE_MS } },
  ...ACTIVITY_CHECKS,
];

/** A noted request, with the time of its end. */
type UsageNote = RequestUsage & { readonly at: number };

/** A table of rollups, by the beginning of its hours or days. */
type Table = "hour" | "day";

/** Usage in a SQLite database, in a Durable Object or in a self-hosted process. */
export class SqlUsage implements UsageStore {
  readonly #sql: Sql;
  readonly #now: () => number;
  readonly #reader: UsageReader;
  readonly #activity: SqlActivity;
  readonly #rowLimits = new Map<number, DayRowLimits>();
  readonly #ids = new Map<string, number>();
  #trimmed = -1;
  /** Number of the last note. */
  #lastNote: number;

  /** `now` returns milliseconds since the epoch. */
  constructor(sql: Sql, now: () => number) {
    this.#sql = sql;
    this.#now = now;
    this.#reader = new UsageReader(sql);
    this.#activity = new SqlActivity(sql);
    createDimensionTable(sql);
    const columns = [
      ...USAGE_SUMS.map((name) => `${name} integer not null`),
      ...USAGE_TIMES.map((name) => `${name} text not null`),
    ].join(", ");
    for (const table of ["hour", "day"] as const) {
      sql.all(
        `create table if not exists usage_${table}(at integer not null, dimension integer not null, ${columns}, primary key(at, dimension)) without rowid`,
      );
    }
    sql.all(
      `create table if not exists usage_key(id integer primary key, key text unique not null, last_used integer not null, ${USAGE_SUMS.map((name) => `${name} integer not null`).join(", ")})`,
    );
    for (const table of ["usage_hour", "usage_day", "usage_key"]) addMissingColumns(sql, table, USAGE_SUMS);
    sql.all(
      "create table if not exists usage_sender(name text primary key, sequence integer not null, heard integer not null) without rowid",
    );
    sql.all("create table if not exists usage_naming(provider_ids_since integer not null)");
    sql.all(
      "insert into usage_naming select ? where not exists (select 1 from usage_naming)",
      Math.trunc(now()),
    );
    sql.all("create table if not exists usage_note(number integer primary key, used text not null)");
    this.#lastNote = numberIn(sql.all("select max(number) as number from usage_note")[0], "number");
  }

  /**
   * Notes a request that ended at `at` (Unix milliseconds) until a message counts it: a single row, whereas rollups take
   * six. Runs within the caller's transaction. Returns the note's number.
   */
  note(used: RequestUsage, at: number): number {
    this.#lastNote += 1;
    const note: UsageNote = { ...used, at };
    this.#sql.all("insert into usage_note values(?, ?)", this.#lastNote, JSON.stringify(note));
    return this.#lastNote;
  }

  /**
   * Counts the notes of an earlier process that ended before it had counted them. Call it at the start of the only writing
   * process.
   */
  async countNotes(snapshot: Pick<ConfigSnapshot, "config">): Promise<void> {
    const tally = new UsageTally();
    for (const row of this.#sql.all("select number, used from usage_note order by number")) {
      const { at, ...used }: UsageNote = JSON.parse(textIn(row, "used"));
      tally.count(used, at, numberIn(row, "number"));
    }
    await tally.send(this, snapshot, this.#now());
  }

  write(message: UsageMessage): void {
    this.#withoutDamaged(() => {
      try {
        this.#sql.transaction(() => this.#storeMessage(message));
      } catch (error) {
        // Cached state may not have been written.
        this.#rowLimits.clear();
        this.#ids.clear();
        this.#trimmed = -1;
        this.#activity.invalidateCache();
        throw error;
      }
    });
  }

  read(query: UsageQuery): UsageReport {
    return this.#withoutDamaged(() => this.#reader.read(query));
  }

  readActivity(query: ActivityQuery): ActivityReport {
    return this.#withoutDamaged(() => this.#activity.read(query));
  }

  listKeyUsage(): KeyUsage[] {
    return this.#withoutDamaged(() => this.#keys());
  }

  /** Checks the tables for damaged rows only after an error, because they may be large. */
  #withoutDamaged<T>(work: () => T): T {
    return retryWithoutDamagedRows(this.#sql, CHECKS, work);
  }

  #keys(): KeyUsage[] {
    const today = new Map(
      this.#reader
        .sumByKey(Math.floor(this.#now() / DAY_MS) * DAY_MS)
        .map((row) => [textIn(row, "key"), parseSums(row)]),
    );
    return this.#sql.all("select * from usage_key order by id").map((row) => ({
      ...parseSums(row),
      key: textIn(row, "key"),
      last_used: numberIn(row, "last_used"),
      today: today.get(textIn(row, "key")) ?? parseSums(undefined),
    }));
  }

  #storeMessage({ sender, sequence, made, deltas, activity = [], noted }: UsageMessage): void {
    const now = this.#now();
    if (noted !== undefined) this.#sql.all("delete from usage_note where number <= ?", noted);
    const row = this.#sql.all("select sequence from usage_sender where name=?", sender)[0];
    if (row !== undefined && numberIn(row, "sequence") >= sequence) return;
    if (row === undefined && made < now - SENDERS_KEPT_MS) return;
    this.#sql.all("insert or replace into usage_sender values(?,?,?)", sender, sequence, now);
    for (const delta of deltas) this.#add(delta, now);
    this.#activity.add(activity, now);
    this.#trim(now);
  }

  #add(delta: UsageDelta, now: number): void {
    const day = Math.floor(delta.hour / DAY_MS) * DAY_MS;
    this.#addToKey(delta);
    if (day < now - DAYS_KEPT_MS) return;
    const dimension = this.#getDimensionId(this.#getRowLimits(day).limitDimensions(delta.dimensions));
    this.#addTo("day", day, dimension, delta);
    if (delta.hour >= now - HOURS_KEPT_MS) this.#addTo("hour", delta.hour, dimension, delta);
  }

  #addTo(table: Table, at: number, dimension: number, delta: UsageDelta): void {
    const existing = this.#sql.all(
      `select ${COLUMNS} from usage_${table} where at=? and dimension=?`,
      at,
      dimension,
    )[0];
    this.#sql.all(
      `insert or replace into usage_${table}(at, dimension, ${COLUMNS}) values(?, ?, ${PLACEHOLDERS})`,
      at,
      dimension,
      ...USAGE_SUMS.map((name) => amountIn(existing, name) + statedSum(delta, name)),
      ...USAGE_TIMES.map((name) => JSON.stringify(mergeBuckets(parseBuckets(existing, name), delta[name]))),
    );
  }

  #addToKey({ dimensions: { key }, last, ...delta }: UsageDelta): void {
    this.#sql.all(
      `insert into usage_key(key, last_used, ${USAGE_SUMS.join(", ")}) values(?, ?, ${USAGE_SUMS.map(() => "?").join(", ")}) on conflict(key) do update set last_used = max(last_used, excluded.last_used), ${USAGE_SUMS.map((name) => `${name} = ${name} + excluded.${name}`).join(", ")}`,
      key,
      last,
      ...USAGE_SUMS.map((name) => statedSum(delta, name)),
    );
  }

  #getDimensionId(dimensions: UsageDimensions): number {
    // An isolate of an earlier version does not send all.
    const sent: Partial<UsageDimensions> = dimensions;
    const values = USAGE_DIMENSIONS.map((name) => sent[name] ?? "");
    const cacheKey = values.join("\0");
    const known = this.#ids.get(cacheKey);
    if (known !== undefined) return known;
    const where = USAGE_DIMENSIONS.map((name) => `${name}=?`).join(" and ");
    const find = () => this.#sql.all(`select id from usage_dimension where ${where}`, ...values)[0];
    let row = find();
    if (row === undefined) {
      this.#sql.all(
        `insert into usage_dimension(${DIMENSIONS}) values(${USAGE_DIMENSIONS.map(() => "?").join(",")})`,
        ...values,
      );
      row = find();
    }
    const id = numberIn(row, "id");
    this.#ids.set(cacheKey, id);
    return id;
  }

  #getRowLimits(day: number): DayRowLimits {
    let limits = this.#rowLimits.get(day);
    if (limits === undefined) {
      limits = new DayRowLimits();
      const rows = this.#sql.all(
        `select ${DIMENSIONS} from usage_day join usage_dimension on id = dimension where at=?`,
        day,
      );
      for (const row of rows) limits.addRow(readDimensions(row));
      this.#rowLimits.set(day, limits);
      if (this.#rowLimits.size > DAYS_IN_MEMORY) this.#rowLimits.delete(Math.min(...this.#rowLimits.keys()));
    }
    return limits;
  }

  /** Drops expired rows, once a day. */
  #trim(now: number): void {
    const day = Math.floor(now / DAY_MS);
    if (day === this.#trimmed) return;
    this.#trimmed = day;
    this.#ids.clear();
    this.#sql.all("delete from usage_hour where at < ?", now - HOURS_KEPT_MS);
    this.#sql.all("delete from usage_day where at < ?", now - DAYS_KEPT_MS);
    this.#sql.all("delete from usage_sender where heard < ?", now - SENDERS_KEPT_MS);
    this.#sql.all("delete from usage_dimension where id not in (select dimension from usage_day)");
  }
}

function readDimensions(row: SqlRow): UsageDimensions {
  return {
    key: textIn(row, "key"),
    requested_model: textIn(row, "requested_model"),
    model: textIn(row, "model"),
    provider: textIn(row, "provider"),
    account: textIn(row, "account"),
    dialect: textIn(row, "dialect"),
    operation: textIn(row, "operation"),
    outcome: textIn(row, "outcome"),
    team: textIn(row, "team"),
    user: textIn(row, "user"),
    tag: textIn(row, "tag"),
  };
}
