import { accountFault, type Cooldown } from "../src/accounts/cooldown.ts";
import type { PoolStore, Starts, StoredAccount } from "../src/accounts/pool-store.ts";

type MarkRow = { id: string; slots: number };
type StartRow = { last: number; oldest_live: number };
type ReclaimedRow = { token: string; at: number };
type AccountRow = {
  id: string;
  token: string;
  expires_at: number;
  issued_at: number;
  configured_token: string;
  test_status: string;
  failure_kind: string;
  failure_reason: string;
  failures: number;
  cooling_until: number;
};

function cooldown(row: AccountRow): Cooldown | null {
  const kind = accountFault(row.failure_kind);
  if (kind === null) return null;
  return { kind, reason: row.failure_reason, failures: row.failures, until: row.cooling_until };
}

/** The pool's storage in the object's own SQLite database. */
export class SqlPoolStore implements PoolStore {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
    sql.exec(`
      create table if not exists mark(id text primary key, slots integer not null) without rowid;
      create table if not exists start(one integer primary key check (one = 1), last integer, oldest_live integer);
      create table if not exists reclaimed(token text primary key, at integer not null) without rowid;
      create table if not exists account(
        id text primary key, token text not null, expires_at integer not null, issued_at integer not null,
        configured_token text not null, test_status text not null,
        failure_kind text not null, failure_reason text not null, failures integer not null,
        cooling_until integer not null
      ) without rowid;
    `);
  }

  loadMarks(): Iterable<readonly [string, number]> {
    return this.#sql
      .exec<MarkRow>("select id, slots from mark")
      .toArray()
      .map((row) => [row.id, row.slots] as const);
  }

  setMark(id: string, slots: number): void {
    if (slots === 0) this.#sql.exec("delete from mark where id = ?", id);
    else this.#sql.exec("insert or replace into mark(id, slots) values(?, ?)", id, slots);
  }

  clearMarks(): void {
    this.#sql.exec("delete from mark");
  }

  loadStarts(): Starts {
    const [row] = this.#sql.exec<StartRow>("select last, oldest_live from start").toArray();
    return { last: row?.last ?? 0, oldestLive: row?.oldest_live ?? 0 };
  }

  saveStarts({ last, oldestLive }: Starts): void {
    this.#sql.exec("insert or replace into start(one, last, oldest_live) values(1, ?, ?)", last, oldestLive);
  }

  loadReclaimed(): Iterable<readonly [string, number]> {
    return this.#sql
      .exec<ReclaimedRow>("select token, at from reclaimed order by at")
      .toArray()
      .map((row) => [row.token, row.at] as const);
  }

  addReclaimed(token: string, at: number): void {
    this.#sql.exec("insert or replace into reclaimed(token, at) values(?, ?)", token, at);
  }

  dropReclaimed(before: number): void {
    this.#sql.exec("delete from reclaimed where at < ?", before);
  }

  loadAccounts(): Iterable<StoredAccount> {
    return this.#sql
      .exec<AccountRow>("select * from account")
      .toArray()
      .map((row) => ({
        id: row.id,
        token: row.token,
        expiresAt: row.expires_at,
        issuedAt: row.issued_at,
        configuredToken: row.configured_token,
        testStatus: row.test_status,
        cooldown: cooldown(row),
      }));
  }

  saveAccount(account: StoredAccount): void {
    const failure = account.cooldown;
    this.#sql.exec(
      "insert or replace into account values(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
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
    );
  }

  removeAccount(id: string): void {
    this.#sql.exec("delete from account where id = ?", id);
  }
}
