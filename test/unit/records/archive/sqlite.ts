import type { Sql } from "../../../../src/core/storage/sql.ts";
import { Database } from "../../../../src/runtime/deno/database.ts";

/** A database in memory, read as the program reads its file on Deno. */
export function memoryDatabase(): Sql {
  const database = new Database(":memory:");
  return {
    all: (statement, ...values) => database.all(statement, ...values),
    transaction: (work) => database.transaction(work),
  };
}
