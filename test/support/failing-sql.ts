import type { Sql, SqlRow, SqlValue } from "../../src/core/storage/sql.ts";
import { Database } from "../../src/runtime/deno/database.ts";

/**
 * When a step fails: before it does anything, after it is done, or before it does anything while also ending its
 * transaction, as SQLite does when the disk is full.
 */
export const FAILURE_KINDS = ["before", "after", "with its transaction"] as const;
export type FailureKind = (typeof FAILURE_KINDS)[number];

/** The failure that {@link FailingSql} throws. */
export class InjectedFailure extends Error {
  override readonly name = "InjectedFailure";
}

/** A SQLite database in memory in which one step fails. A step is a statement, or the begin or commit of a transaction. */
export class FailingSql implements Sql {
  readonly #database = new Database(":memory:");
  /** Number of steps so far. */
  steps = 0;
  /** The failed step; empty: none. */
  failed = "";
  /** While true, every writing statement fails. */
  isFull = false;
  #failAt: number;
  readonly #kind: FailureKind;
  #depth = 0;

  /** Makes the step with this number fail once. The first step is number 1. */
  constructor(failAt = Number.POSITIVE_INFINITY, kind: FailureKind = "before") {
    this.#failAt = failAt;
    this.#kind = kind;
  }

  /** Makes one step fail after `steps` further successful steps. */
  failAfter(steps: number): void {
    this.#failAt = this.steps + steps + 1;
  }

  /** Ends all failures. */
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
    this.#step("begin", () => undefined, false);
    this.#database.transaction(() => {
      this.#depth += 1;
      try {
        work();
        // A failed commit has stored nothing.
        this.#step("commit", () => undefined, false);
      } finally {
        this.#depth -= 1;
      }
    });
  }

  /** Closes and discards the database. */
  close(): void {
    this.#database.close();
  }

  #step<T>(name: string, run: () => T, mayBeDone = true): T {
    this.steps += 1;
    if (this.steps !== this.#failAt) return run();
    if (mayBeDone && this.#kind === "after") run();
    this.failed = name;
    this.#throw(`step ${this.steps} fails: ${name}`);
  }

  #throw(message: string): never {
    if (this.#kind === "with its transaction" && this.#depth > 0) this.#database.all("rollback");
    throw new InjectedFailure(message);
  }
}

/** Runs work that may meet the injected failure; undefined if it does. Rethrows other errors. */
export async function attempt<T>(work: () => T | Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof InjectedFailure) return undefined;
    throw error;
  }
}

/** Runs work, and retries it once after the injected failure. */
export async function retryOnce<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof InjectedFailure)) throw error;
    return await work();
  }
}

/**
 * Runs a scenario repeatedly, each time with a new database in which the next step fails, until all steps have failed once.
 * `scenario` must check its data at the end.
 *
 * @returns the failed step of each run
 */
export async function failEachStep(
  kind: FailureKind,
  scenario: (sql: FailingSql) => void | Promise<void>,
): Promise<string[]> {
  const failed: string[] = [];
  for (let step = 1; ; step += 1) {
    const sql = new FailingSql(step, kind);
    try {
      await scenario(sql);
    } catch (error) {
      const reason = error instanceof Error ? error.message : error;
      throw new Error(`step ${step} (${sql.failed || "none"}) fails: ${reason}`, { cause: error });
    }
    if (sql.failed === "") return failed;
    failed.push(sql.failed);
  }
}
