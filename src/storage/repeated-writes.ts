import type { Sql, SqlValue } from "./sql.ts";

/**
 * Writes that a database may refuse for a while, such as one whose disk is full. Each is tried at once. What fails stays in memory and is
 * tried again, in order, before the next write.
 */
export class RepeatedWrites {
  readonly #sql: Sql;
  /** By name, the oldest first. */
  readonly #waiting = new Map<string, () => void>();

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /**
   * Runs a statement now or later. Never throws.
   *
   * @param name what the statement writes: it replaces a waiting statement of the same name
   */
  write(name: string, statement: string, ...values: readonly SqlValue[]): void {
    this.#waiting.delete(name);
    this.#waiting.set(name, () => void this.#sql.all(statement, ...values));
    try {
      this.flush();
    } catch {
      // `flush` tells those who must know.
    }
  }

  /** Runs what waits. Throws what the database throws; what has not run then waits on. */
  flush(): void {
    for (const [name, run] of this.#waiting) {
      run();
      this.#waiting.delete(name);
    }
  }
}
