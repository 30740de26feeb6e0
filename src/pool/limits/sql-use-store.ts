import { MAX_DATE_MS, quarantineDamagedRows, type TableCheck } from "../../core/storage/damaged-rows.ts";
import { numberIn, type Sql, textIn } from "../../core/storage/sql.ts";
import type { StoredSum, StoredUse, UseStore } from "./use-store.ts";

/** The column `key` is the name of a subject (`formatSubject`). */
const TABLES = [
  `create table if not exists key_use(
    id text primary key, key text not null, at integer not null, tokens integer not null, cost integer not null,
    extra_tokens integer not null, extra_cost integer not null, ended integer not null, settled integer not null
  ) without rowid`,
  // Most requests have one subject, so these have a table of their own.
  `create table if not exists key_use_other(
    use text not null, key text not null, primary key(use, key)
  ) without rowid`,
  `create table if not exists key_sum(
    key text primary key, day integer not null, day_tokens integer not null, day_cost integer not null,
    month integer not null, month_tokens integer not null, month_cost integer not null
  ) without rowid`,
];

const CHECKS: readonly TableCheck[] = [
  {
    table: "key_use",
    numbers: {
      at: MAX_DATE_MS,
      tokens: null,
      cost: null,
      extra_tokens: null,
      extra_cost: null,
      ended: MAX_DATE_MS,
      settled: 1,
    },
  },
  {
    table: "key_sum",
    numbers: {
      day: null,
      day_tokens: null,
      day_cost: null,
      month: null,
      month_tokens: null,
      month_cost: null,
    },
  },
];

/**
 * Stores the counted use in a SQLite database: a Durable Object's or a separate file.
 * Each call throws what SQLite throws.
 */
export class SqlUseStore implements UseStore {
  readonly #sql: Sql;
  /** Whether any request may have more than one subject. */
  #hasOthers: boolean;

  constructor(sql: Sql) {
    this.#sql = sql;
    for (const table of TABLES) sql.all(table);
    quarantineDamagedRows(sql, CHECKS);
    sql.all("delete from key_use_other where use not in (select id from key_use)");
    this.#hasOthers = sql.all("select 1 from key_use_other limit 1").length > 0;
  }

  loadUses(): Iterable<StoredUse> {
    const others = Map.groupBy(this.#sql.all("select use, key from key_use_other order by key"), (row) =>
      textIn(row, "use"),
    );
    return this.#sql.all("select * from key_use order by at, id").map((row) => ({
      id: textIn(row, "id"),
      subject: textIn(row, "key"),
      others: (others.get(textIn(row, "id")) ?? []).map((other) => textIn(other, "key")),
      at: numberIn(row, "at"),
      tokens: numberIn(row, "tokens"),
      cost: numberIn(row, "cost"),
      extraTokens: numberIn(row, "extra_tokens"),
      extraCost: numberIn(row, "extra_cost"),
      ended: numberIn(row, "ended"),
      settled: numberIn(row, "settled") === 1,
    }));
  }

  saveUse(use: StoredUse): void {
    if (use.others.length === 0 && !this.#hasOthers) {
      this.#saveRow(use);
      return;
    }
    this.#sql.transaction(() => {
      this.#sql.all("delete from key_use_other where use = ?", use.id);
      for (const other of use.others) {
        this.#sql.all("insert or replace into key_use_other values(?, ?)", use.id, other);
      }
      this.#saveRow(use);
    });
    this.#hasOthers ||= use.others.length > 0;
  }

  #saveRow({ id, subject, at, tokens, cost, extraTokens, extraCost, ended, settled }: StoredUse): void {
    this.#sql.all(
      "insert or replace into key_use values(?, ?, ?, ?, ?, ?, ?, ?, ?)",
      id,
      subject,
      at,
      tokens,
      cost,
      extraTokens,
      extraCost,
      ended,
      settled ? 1 : 0,
    );
  }

  removeUse(id: string): void {
    if (!this.#hasOthers) {
      this.#sql.all("delete from key_use where id = ?", id);
      return;
    }
    this.#sql.transaction(() => {
      this.#sql.all("delete from key_use_other where use = ?", id);
      this.#sql.all("delete from key_use where id = ?", id);
    });
  }

  loadSums(): Iterable<StoredSum> {
    return this.#sql.all("select * from key_sum").map((row) => ({
      subject: textIn(row, "key"),
      day: numberIn(row, "day"),
      dayTokens: numberIn(row, "day_tokens"),
      dayCost: numberIn(row, "day_cost"),
      month: numberIn(row, "month"),
      monthTokens: numberIn(row, "month_tokens"),
      monthCost: numberIn(row, "month_cost"),
    }));
  }

  whenStored(): null {
    return null;
  }

  /** Nothing is pending. */
  writeNow(): void {}

  fold(cutoff: number, sums: readonly StoredSum[]): void {
    this.#sql.transaction(() => {
      if (this.#hasOthers) {
        this.#sql.all(
          "delete from key_use_other where use in (select id from key_use where ended > 0 and ended <= ?)",
          cutoff,
        );
      }
      this.#sql.all("delete from key_use where ended > 0 and ended <= ?", cutoff);
      for (const { subject, day, dayTokens, dayCost, month, monthTokens, monthCost } of sums) {
        this.#sql.all(
          "insert or replace into key_sum values(?, ?, ?, ?, ?, ?, ?)",
          subject,
          day,
          dayTokens,
          dayCost,
          month,
          monthTokens,
          monthCost,
        );
      }
    });
  }
}
