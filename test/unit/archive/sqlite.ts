import { Database } from "../../../src/platform/deno/database.ts";
import type { Sql } from "../../../src/storage/sql.ts";

/** A database in memory, read as the program reads its file on Deno. */
export function memoryDatabase(): Sql {
  const database = new Database(":memory:");
  return {
    all: (statement, ...values) => database.all(statement, ...values),
    transaction: (work) => database.transaction(work),
  };
}
