import { MAX_DATE_MS, quarantineDamagedRows, type TableCheck } from "../../core/storage/damaged-rows.ts";
import { numberIn, type Sql, type SqlRow, textIn } from "../../core/storage/sql.ts";
import { WriteRetryQueue } from "../../core/storage/write-retry-queue.ts";
import { type Cooldown, parseFailureKind } from "../health/circuit-breaker.ts";
import type { LeaseTerms, PoolStore, Starts, StoredAccount } from "./pool-store.ts";

const TABLES = [
  "create table if not exists mark(id text primary key, slots integer not null) without rowid",
  "create table if not exists start(one integer primary key check (one = 1), last integer, oldest_live integer)",
  `create table if not exists terms(
    one integer primary key check (one = 1), boot text not null, claim_ms integer not null, await_ms integer not null
  )`,
  "create table if not exists isolate(id text primary key) without rowid",
  "create table if not exists health(part integer primary key, data text not null)",
  "create table if not exists reclaimed(token text primary key, at integer not null) without rowid",
  `create table if not exists account(
    id text primary key, token text not null, expires_at integer not null, issued_at integer not null,
    configured_token text not null, test_status text not null,
    failure_kind text not null, failure_reason text not null, failures integer not null,
    cooling_until integer not null, proven integer not null default 1, refresh_token text not null default ''
  ) without rowid`,
];

const MAX_SLOTS = 1_000_000;
/** Half of the largest exactly countable number: starts continue to count from it. */
const MAX_START = 2 ** 52;
/** The longest delay of a timer, milliseconds. */
const MAX_TIMER_MS = 2 ** 31 - 1;

const CHECKS: readonly TableCheck[] = [
  { table: "mark", numbers: { slots: MAX_SLOTS } },
  { table: "start", numbers: { last: MAX_START, oldest_live: MAX_START } },
  { table: "terms", numbers: { claim_ms: MAX_TIMER_MS, await_ms: MAX_TIMER_MS } },
  { table: "health", json: { data: "object" } },
  { table: "reclaimed", numbers: { at: MAX_DATE_MS } },
  {
    table: "account",
    numbers: {
      expires_at: MAX_DATE_MS,
      issued_at: MAX_DATE_MS,
      failures: null,
      cooling_until: MAX_DATE_MS,
      proven: 1,
    },
  },
];

function readCooldown(row: SqlRow): Cooldown | null {
  const kind = parseFailureKind(textIn(row, "failure_kind"));
  if (kind === null) return null;
  return {
    kind,
    reason: textIn(row, "failure_reason"),
    failures: numberIn(row, "failures"),
    until: numberIn(row, "cooling_until"),
  };
}

/** The pool's storage in a SQLite database: a Durable Object's or a separate file. */
export class SqlPoolStore implements PoolStore {
  readonly #sql: Sql;
  readonly #writes: WriteRetryQueue;

  constructor(sql: Sql) {
    this.#sql = sql;
    this.#writes = new WriteRetryQueue(sql);
    for (const table of TABLES) sql.all(table);
    // Tables of earlier versions lack these columns.
    const columns = sql.all("select name from pragma_table_info('account')").map((row) => row["name"]);
    if (!columns.includes("proven"))
      sql.all("alter table account add column proven integer not null default 1");
    if (!columns.includes("refresh_token"))
      sql.all("alter table account add column refresh_token text not null default ''");
    quarantineDamagedRows(sql, CHECKS);
  }

  loadHighWaterMarks(): Iterable<readonly [string, number]> {
    return this.#sql
      .all("select id, slots from mark")
      .map((row) => [textIn(row, "id"), numberIn(row, "slots")] as const);
  }

  setHighWaterMark(id: string, slots: number): void {
    const name = `mark ${id}`;
    if (slots === 0) this.#writes.write(name, "delete from mark where id = ?", id);
    else this.#writes.write(name, "insert or replace into mark(id, slots) values(?, ?)", id, slots);
  }

  clearHighWaterMarks(): void {
    this.#writes.write("marks", "delete from mark");
  }

  flush(): void {
    this.#writes.flush();
  }

  loadStarts(): Starts {
    const [row] = this.#sql.all("select last, oldest_live from start");
    return { last: numberIn(row, "last"), oldestLive: numberIn(row, "oldest_live") };
  }

  saveStarts({ last, oldestLive }: Starts): void {
    const statement = "insert or replace into start(one, last, oldest_live) values(1, ?, ?)";
    this.#writes.write("start", statement, last, oldestLive);
  }

  loadTerms(): LeaseTerms | null {
    const [row] = this.#sql.all("select boot, claim_ms, await_ms from terms");
    if (row === undefined) return null;
    return {
      boot: textIn(row, "boot"),
      claimMs: numberIn(row, "claim_ms"),
      awaitMs: numberIn(row, "await_ms"),
    };
  }

  saveTerms({ boot, claimMs, awaitMs }: LeaseTerms): void {
    const statement = "insert or replace into terms values(1, ?, ?, ?)";
    this.#writes.write("terms", statement, boot, claimMs, awaitMs);
  }

  loadIsolates(): Iterable<string> {
    return this.#sql.all("select id from isolate").map((row) => textIn(row, "id"));
  }

  addIsolate(isolate: string): void {
    this.#writes.write(`isolate ${isolate}`, "insert or replace into isolate(id) values(?)", isolate);
  }

  removeIsolate(isolate: string): void {
    this.#writes.write(`isolate ${isolate}`, "delete from isolate where id = ?", isolate);
  }

  loadReclaimed(): Iterable<readonly [string, number]> {
    return this.#sql
      .all("select token, at from reclaimed order by at")
      .map((row) => [textIn(row, "token"), numberIn(row, "at")] as const);
  }

  addReclaimed(token: string, at: number): void {
    const statement = "insert or replace into reclaimed(token, at) values(?, ?)";
    this.#writes.write(`reclaimed ${token}`, statement, token, at);
  }

  dropReclaimed(before: number): void {
    this.#writes.write("reclaimed", "delete from reclaimed where at < ?", before);
  }

  loadAccounts(): Iterable<StoredAccount> {
    return this.#sql.all("select * from account").map((row) => ({
      id: textIn(row, "id"),
      token: textIn(row, "token"),
      expiresAt: numberIn(row, "expires_at"),
      issuedAt: numberIn(row, "issued_at"),
      configuredToken: textIn(row, "configured_token"),
      refreshToken: textIn(row, "refresh_token"),
      testStatus: textIn(row, "test_status"),
      proven: numberIn(row, "proven") === 1,
      cooldown: readCooldown(row),
    }));
  }

  saveAccount(account: StoredAccount): void {
    const failure = account.cooldown;
    this.#writes.write(
      `account ${account.id}`,
      "insert or replace into account values(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      account.id,
      account.token,
      account.expiresAt,
      account.issuedAt,
      account.configuredToken,
      account.testStatus,
      failure?.kind ?? "",
      failure?.reason ?? "",
      failure?.failures ?? 0,
      failure?.until ?? 0,
      account.proven ? 1 : 0,
      account.refreshToken,
    );
  }

  removeAccount(id: string): void {
    this.#writes.write(`account ${id}`, "delete from account where id = ?", id);
  }

  /** Reads one text at a time: the texts of many accounts are large. */
  *loadHealth(): Iterable<readonly [number, string]> {
    for (let last = -1; ; ) {
      const [row] = this.#sql.all("select part, data from health where part > ? order by part limit 1", last);
      if (row === undefined) return;
      last = numberIn(row, "part");
      yield [last, textIn(row, "data")];
    }
  }

  saveHealth(number: number, text: string): void {
    this.#writes.write(
      `health ${number}`,
      "insert or replace into health(part, data) values(?, ?)",
      number,
      text,
    );
  }

  removeHealth(number: number): void {
    this.#writes.write(`health ${number}`, "delete from health where part = ?", number);
  }
}
