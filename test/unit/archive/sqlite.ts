import { Database } from "../../../src/platform/deno/database.ts";
import type { Sql } from "../../../src/storage/sql.ts";

/** A database in memory, read as the program reads its file on Deno. */
export function memoryDatabase(): Sql {
  return new Database(":memory:");
}
