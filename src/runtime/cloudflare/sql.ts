import type { Sql, SqlValue } from "../../core/storage/sql.ts";

/** A Durable Object's own SQLite database. */
export function durableSql(storage: DurableObjectStorage): Sql {
  return {
    all: (statement, ...values) => storage.sql.exec<Record<string, SqlValue>>(statement, ...values).toArray(),
    transaction: (work) => storage.transactionSync(work),
  };
}
