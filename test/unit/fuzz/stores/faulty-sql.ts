import { Database } from "../../../../src/platform/deno/database.ts";
import type { Sql, SqlRow, SqlValue } from "../../../../src/storage/sql.ts";

/** What {@link FaultySql} throws: the disk did not take a write, or gave nothing back. */
export class InjectedFault extends Error {}

/** A database in memory, of which one statement fails when a test wants it. */
export class FaultySql implements Sql {
  readonly #database = new Database(":memory:");
  #left = Number.POSITIVE_INFINITY;

  /** Has one statement, or one commit, fail after so many more have succeeded. `Infinity`: none. */
  failAfter(statements: number): void {
    this.#left = statements;
  }

  all(statement: string, ...values: readonly SqlValue[]): readonly SqlRow[] {
    this.#count();
    return this.#database.all(statement, ...values);
  }

  transaction(work: () => void): void {
    this.#database.transaction(() => {
      work();
      this.#count();
    });
  }

  close(): void {
    this.#database.close();
  }

  #count(): void {
    this.#left -= 1;
    if (this.#left >= 0) return;
    this.#left = Number.POSITIVE_INFINITY;
    throw new InjectedFault("a test wants this statement to fail");
  }
}
