import type { RateDecision } from "../../core/ports/pages.ts";
import { MAX_DATE_MS, quarantineDamagedRows } from "../../core/storage/damaged-rows.ts";
import { type Sql, textIn } from "../../core/storage/sql.ts";
import { RateWindow } from "../../pages/limits/rate-window.ts";

/** How often idle clients are removed, milliseconds. */
const SWEEP_MS = 60_000;

/** Limit of counted clients; the least recently seen one is evicted first. */
const MAX_CLIENTS = 20_000;

/** The page service's rate limits: one window per client. `src/pages/limits/rate-window.ts` has the rules. */
export class RateLimits {
  readonly #sql: Sql;
  readonly #now: () => number;
  readonly #maxClients: number;
  readonly #windows = new Map<string, RateWindow>();
  #sweptAt = Number.NEGATIVE_INFINITY;

  /** `now` returns milliseconds since the epoch. */
  constructor(sql: Sql, now: () => number, maxClients = MAX_CLIENTS) {
    this.#sql = sql;
    this.#now = now;
    this.#maxClients = maxClients;
    sql.all(
      "create table if not exists rate(client text primary key, calls text not null, expires integer not null) without rowid",
    );
    quarantineDamagedRows(sql, [
      { table: "rate", numbers: { expires: MAX_DATE_MS }, json: { calls: "array" } },
    ]);
    for (const row of sql.all("select client, calls from rate where expires > ?", now())) {
      this.#windows.set(textIn(row, "client"), new RateWindow(JSON.parse(textIn(row, "calls"))));
    }
  }

  /** Allows or refuses calls; `limit` is calls per minute. */
  take(client: string, limit: number, calls = 1): RateDecision {
    const now = this.#now();
    this.#sweep(now);
    const window = this.#windows.get(client) ?? new RateWindow();
    this.#windows.delete(client);
    this.#windows.set(client, window);
    for (const oldest of this.#windows.keys()) {
      if (this.#windows.size <= this.#maxClients) break;
      this.#windows.delete(oldest);
      this.#sql.all("delete from rate where client = ?", oldest);
    }
    const decision = window.take(now, limit, calls);
    if (decision.allowed) {
      const storedCalls = JSON.stringify(window.calls);
      this.#sql.all("insert or replace into rate values(?, ?, ?)", client, storedCalls, window.expiresAt);
    }
    return decision;
  }

  #sweep(now: number): void {
    if (now - this.#sweptAt < SWEEP_MS) return;
    this.#sweptAt = now;
    for (const [client, window] of this.#windows) {
      if (window.expiresAt <= now) this.#windows.delete(client);
    }
    this.#sql.all("delete from rate where expires <= ?", now);
  }
}
