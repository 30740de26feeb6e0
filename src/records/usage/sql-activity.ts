import {
  type ActivityDelta,
  type ActivityError,
  type ActivityPoint,
  type ActivityQuery,
  type ActivityReport,
  MINUTE_RESOLUTION_MAX_MS,
} from "../../core/ports/activity.ts";
import { OUTCOME_TOTALS } from "../../core/ports/usage.ts";
import { MAX_DATE_MS, type TableCheck } from "../../core/storage/damaged-rows.ts";
import { amountIn, numberIn, type Sql, type SqlRow, textIn } from "../../core/storage/sql.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../core/units.ts";
import { computePercentiles, mergeBuckets, parseBuckets } from "./histogram.ts";
import { addMissingColumns, statedSum } from "./sum-columns.ts";

export const QUARTER_MS = 900_000;
/** How long rows per minute and per quarter of an hour are stored. */
const KEPT_MS = { minute: MINUTE_RESOLUTION_MAX_MS + HOUR_MS, quarter: 8 * DAY_MS } as const;
const STEP_MS = { minute: MINUTE_MS, quarter: QUARTER_MS } as const;
/** Limit of kinds of errors in an answer. */
const MAX_ERRORS = 20;

type Table = keyof typeof STEP_MS;
const TABLES: readonly Table[] = ["minute", "quarter"];

const SUMS = [
  "requests",
  "prompt_tokens",
  "completion_tokens",
  "cost_nano",
  "busy_ms",
  "waited_ms",
  "cached_tokens",
] as const satisfies readonly (keyof ActivityDelta)[];
const TIMES = ["first_token", "duration"] as const satisfies readonly (keyof ActivityDelta)[];
const COLUMNS = [...SUMS, ...TIMES].join(", ");
const PLACEHOLDERS = [...SUMS, ...TIMES].map(() => "?").join(", ");

/** The required form of the rows. */
export const ACTIVITY_CHECKS: readonly TableCheck[] = TABLES.map((table) => ({
  table: `activity_${table}`,
  numbers: {
    at: MAX_DATE_MS,
    status: null,
    ...Object.fromEntries(SUMS.map((name) => [name, null])),
  },
  json: Object.fromEntries(TIMES.map((name) => [name, "object" as const])),
}));

/** A point while it is summed up. */
type OpenPoint = { -readonly [K in keyof Omit<ActivityPoint, "first_token" | "duration">]: number } & {
  readonly first_token: Record<string, number>;
  readonly duration: Record<string, number>;
};

/**
 * Recent activity: the last hours per minute, the last days per quarter of an hour. Rows distinguish outcomes but not
 * callers, so both tables are small for any traffic.
 */
export class SqlActivity {
  readonly #sql: Sql;
  #trimmed = -1;

  constructor(sql: Sql) {
    this.#sql = sql;
    const columns = [
      ...SUMS.map((name) => `${name} integer not null`),
      ...TIMES.map((name) => `${name} text not null`),
    ].join(", ");
    for (const table of TABLES) {
      sql.all(
        `create table if not exists activity_${table}(at integer not null, outcome text not null, status integer not null, code text not null, ${columns}, primary key(at, outcome, status, code)) without rowid`,
      );
      // Tables of earlier versions lack this column.
      addMissingColumns(sql, `activity_${table}`, ["cached_tokens"]);
    }
  }

  /** Must run in the transaction that stores the message. `now`: Unix milliseconds. */
  add(deltas: readonly ActivityDelta[], now: number): void {
    for (const table of TABLES) {
      for (const delta of deltas) if (delta.minute >= now - KEPT_MS[table]) this.#addTo(table, delta);
    }
    const hour = Math.floor(now / HOUR_MS);
    if (hour === this.#trimmed) return;
    this.#trimmed = hour;
    for (const table of TABLES) {
      this.#sql.all(`delete from activity_${table} where at < ?`, now - KEPT_MS[table]);
    }
  }

  /** Call it when the transaction has failed: the next one trims again. */
  invalidateCache(): void {
    this.#trimmed = -1;
  }

  read({ from, to, step }: ActivityQuery): ActivityReport {
    const table: Table =
      step % QUARTER_MS === 0 && to - from > MINUTE_RESOLUTION_MAX_MS ? "quarter" : "minute";
    const points = new Map<number, OpenPoint>();
    const errors = new Map<string, ActivityError>();
    const totals = newPoint(from);
    const rows = this.#sql.all(`select * from activity_${table} where at >= ? and at < ?`, from, to);
    for (const row of rows) {
      const at = from + Math.floor((numberIn(row, "at") - from) / step) * step;
      let point = points.get(at);
      if (point === undefined) {
        point = newPoint(at);
        points.set(at, point);
      }
      addRow(point, row);
      addRow(totals, row);
      noteError(errors, row);
    }
    return {
      points: Array.from(points.values(), toActivityPoint).sort((a, b) => a.at - b.at),
      totals: toActivityPoint(totals),
      errors: [...errors.values()].sort((a, b) => b.requests - a.requests).slice(0, MAX_ERRORS),
    };
  }

  #addTo(table: Table, delta: ActivityDelta): void {
    const step = STEP_MS[table];
    const key = [Math.floor(delta.minute / step) * step, delta.outcome, delta.status, delta.code] as const;
    const existing = this.#sql.all(
      `select ${COLUMNS} from activity_${table} where at=? and outcome=? and status=? and code=?`,
      ...key,
    )[0];
    this.#sql.all(
      `insert or replace into activity_${table}(at, outcome, status, code, ${COLUMNS}) values(?, ?, ?, ?, ${PLACEHOLDERS})`,
      ...key,
      ...SUMS.map((name) => amountIn(existing, name) + statedSum(delta, name)),
      ...TIMES.map((name) => JSON.stringify(mergeBuckets(parseBuckets(existing, name), delta[name]))),
    );
  }
}

function newPoint(at: number): OpenPoint {
  return {
    at,
    requests: 0,
    succeeded: 0,
    failed: 0,
    cancelled: 0,
    refused: 0,
    prompt_tokens: 0,
    cached_tokens: 0,
    completion_tokens: 0,
    cost_nano: 0,
    busy_ms: 0,
    waited_ms: 0,
    first_token: {},
    duration: {},
  };
}

/** The total of each outcome. A row of another version may have another one. */
const TOTALS: Readonly<Record<string, (typeof OUTCOME_TOTALS)[keyof typeof OUTCOME_TOTALS]>> = OUTCOME_TOTALS;

function addRow(point: OpenPoint, row: SqlRow): void {
  for (const name of SUMS) point[name] += amountIn(row, name);
  const total = TOTALS[textIn(row, "outcome")];
  if (total !== undefined) point[total] += numberIn(row, "requests");
  for (const name of TIMES) {
    const buckets = point[name];
    for (const [bucket, count] of Object.entries(parseBuckets(row, name))) {
      buckets[bucket] = (buckets[bucket] ?? 0) + count;
    }
  }
}

function noteError(errors: Map<string, ActivityError>, row: SqlRow): void {
  const outcome = textIn(row, "outcome");
  const requests = numberIn(row, "requests");
  if (requests === 0 || (outcome !== "error" && outcome !== "refused")) return;
  const status = numberIn(row, "status");
  const code = textIn(row, "code");
  const name = `${outcome}\0${status}\0${code}`;
  const known = errors.get(name)?.requests ?? 0;
  errors.set(name, { outcome, status, code, requests: known + requests });
}

function toActivityPoint({ first_token, duration, ...sums }: OpenPoint): ActivityPoint {
  return { ...sums, first_token: computePercentiles(first_token), duration: computePercentiles(duration) };
}
