import { type Sql, textIn } from "../../core/storage/sql.ts";

/** Adds columns for totals to a table that an earlier version has created. Its rows get 0. */
export function addMissingColumns(sql: Sql, table: string, columns: readonly string[]): void {
  const existing = new Set(
    sql.all("select name from pragma_table_info(?)", table).map((row) => textIn(row, "name")),
  );
  for (const column of columns) {
    if (!existing.has(column)) {
      sql.all(`alter table ${table} add column ${column} integer not null default 0`);
    }
  }
}

/** A total of a message; 0 if the isolate that sent it is of an older version, which does not count it. */
export function statedSum<Name extends string>(message: Partial<Record<Name, number>>, name: Name): number {
  return message[name] ?? 0;
}
