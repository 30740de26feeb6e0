import { Database } from "../../src/platform/deno/database.ts";
import type { Sql, SqlRow, SqlValue } from "../../src/storage/sql.ts";

/** When a step fails: before it does anything, or after it has done all. */
export type FailureTime = "before" | "after";

/** The failure that {@link FailingSql} throws. */
export class InjectedFailure extends Error {
  override readonly name = "InjectedFailure";
}

/**
 * A SQLite database in memory of which one step fails. A step is a statement, or the begin or the commit of a transaction. SQLite takes
 * back a transaction by itself when a disk is full; {@link FailingSql.endsTransactions} does the same.
 */
export class FailingSql implements Sql {
  readonly #database = new Database(":memory:");
  /** How many steps there were. */
  steps = 0;
  /** What failed; empty while nothing has. */
  failed = "";
  /** While true, each statement that writes fails. */
  isFull = false;
  /** A failure within a transaction ends it, as SQLite does when a disk is full. */
  endsTransactions = false;
  #failAt: number;
  readonly #time: FailureTime;
  #depth = 0;

  /** Has the step with this number fail, once. The first step is number 1. */
  constructor(failAt = Number.POSITIVE_INFINITY, time: FailureTime = "before") {
    this.#failAt = failAt;
    this.#time = time;
  }

  /** No further step fails. */
  heal(): void {
    this.isFull = false;
    this.#failAt = Number.POSITIVE_INFINITY;
  }

  all(statement: string, ...values: readonly SqlValue[]): readonly SqlRow[] {
    if (this.isFull && !/^\s*(?:select|begin|rollback)/i.test(statement))
      this.#throw("database or disk is full");
    return this.#step(statement, () => this.#database.all(statement, ...values));
  }

  transaction(work: () => void): void {
    this.#step("begin", () => undefined, "before");
    this.#database.transaction(() => {
      this.#depth += 1;
      try {
        work();
        // A commit that fails has kept nothing.
        this.#step("commit", () => undefined, "before");
      } finally {
        this.#depth -= 1;
      }
    });
  }

  #step<T>(name: string, run: () => T, time = this.#time): T {
    this.steps += 1;
    if (this.steps !== this.#failAt) return run();
    if (time === "after") run();
    this.failed = name;
    this.#throw(`step ${this.steps} fails: ${name}`);
  }

  #throw(message: string): never {
    if (this.endsTransactions && this.#depth > 0) this.#database.all("rollback");
    throw new InjectedFailure(message);
  }
}

/** Runs work that may meet the failure. Undefined: it has failed. Throws what is no injected failure. */
export async function attempt<T>(work: () => T | Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof InjectedFailure) return undefined;
    throw error;
  }
}

/**
 * Runs a scenario again and again, each time with another step that fails, until it has no more steps: before the step, after it, and
 * with the end of the transaction. `scenario` begins with a new database, and checks at its end that the books balance.
 *
 * @returns how many runs met a failure
 */
export async function failEachStep(
  scenario: (sql: FailingSql, time: FailureTime) => void | Promise<void>,
  times: readonly FailureTime[] = ["before", "after"],
): Promise<number> {
  let runs = 0;
  for (const time of times) {
    for (const endsTransactions of time === "before" ? [false, true] : [false]) {
      for (let step = 1; ; step += 1) {
        const sql = new FailingSql(step, time);
        sql.endsTransactions = endsTransactions;
        try {
          await scenario(sql, time);
        } catch (error) {
          const where = `step ${step} (${sql.failed || "none"}), ${time}${endsTransactions ? ", transaction ended" : ""}`;
          throw new Error(`${where}: ${error instanceof Error ? error.message : error}`, { cause: error });
        }
        if (sql.failed === "") break;
        runs += 1;
      }
    }
  }
  return runs;
}
