import type { Sql, SqlValue } from "./sql.ts";

/**
 * Writes that a database may reject for some time, for example because its disk is full. The first attempt is
 * immediate. A failed write stays in memory and is retried, in order, before the next write.
 */
export class WriteRetryQueue {
  readonly #sql: Sql;
  /** Pending writes by name, oldest first. */
  readonly #pending = new Map<string, () => void>();

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /**
   * Runs a statement now, or later if it fails. Never throws.
   *
   * @param name identifies the written data: the statement replaces a pending one with the same name
   */
  write(name: string, statement: string, ...values: readonly SqlValue[]): void {
    this.#pending.delete(name);
    this.#pending.set(name, () => void this.#sql.all(statement, ...values));
    try {
      this.flush();
    } catch {
      // Callers that need the error call `flush` themselves.
    }
  }

  /** Runs the pending writes. Throws the first error of the database; the writes that did not run stay pending. */
  flush(): void {
    for (const [name, run] of this.#pending) {
      run();
      this.#pending.delete(name);
    }
  }
}
