import { DatabaseSync } from "node:sqlite";
import type { Sql, SqlRow, SqlValue } from "../../../src/storage/sql.ts";

function columnValue(value: unknown): SqlValue {
  return typeof value === "number" || typeof value === "string" ? value : null;
}

/** A database in memory with the interface that the archive is written against. */
export function memoryDatabase(): Sql {
  const database = new DatabaseSync(":memory:");
  return {
    all: (statement, ...values) =>
      database
        .prepare(statement)
        .all(...values)
        .map(
          (row): SqlRow =>
            Object.fromEntries(Object.entries(row).map(([name, value]) => [name, columnValue(value)])),
        ),
    transaction: (work) => {
      database.exec("begin");
      try {
        work();
        database.exec("commit");
      } catch (error) {
        database.exec("rollback");
        throw error;
      }
    },
  };
}
