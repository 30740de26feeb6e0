import { numberIn, type Sql, textIn } from "./sql.ts";

/** The JSON type of a column. */
export type JsonKind = "object" | "array";

/** The valid contents of a table's columns. Null is always valid, and so is an empty text in a JSON column. */
export interface TableCheck {
  readonly table: string;
  /** Columns with a non-negative number, each with its maximum; null: no maximum except that sums must stay finite. */
  readonly numbers?: Readonly<Record<string, number | null>>;
  readonly json?: Readonly<Record<string, JsonKind>>;
}

/** Larger numbers count as damaged, so that sums stay finite. */
const MAX_SUMMABLE = 1e100;

/** The latest time that a `Date` can hold, Unix milliseconds. */
export const MAX_DATE_MS = 8.64e15;

/** A SQL condition that is true for damaged rows only. In SQLite every text compares as larger than every number. */
function damageCondition({ numbers = {}, json = {} }: TableCheck): string {
  return [
    ...Object.entries(numbers).map(([column, max]) => `not (${column} between 0 and ${max ?? MAX_SUMMABLE})`),
    ...Object.entries(json).map(
      ([column, kind]) =>
        `${column} <> '' and iif(json_valid(${column}), json_type(${column}) <> '${kind}', 1)`,
    ),
  ]
    .map((condition) => `coalesce(${condition}, 0)`)
    .join(" or ");
}

/**
 * Moves damaged rows to the table `set_aside`, and logs a line for each table that had some. The table stores each row
 * as a JSON object of SQL literals, so that no data is lost.
 *
 * @returns the number of moved rows
 */
export function quarantineDamagedRows(sql: Sql, checks: readonly TableCheck[]): number {
  return checks.reduce((moved, check) => moved + quarantineRows(sql, check.table, damageCondition(check)), 0);
}

/** Moves the rows of one table that match a condition; otherwise as above. */
function quarantineRows(sql: Sql, table: string, condition: string): number {
  const rows = numberIn(sql.all(`select count(*) as n from ${table} where ${condition}`)[0], "n");
  if (rows === 0) return 0;
  const columns = sql.all("select name from pragma_table_info(?)", table).map((row) => textIn(row, "name"));
  const row = `json_object(${columns.map((name) => `'${name}', quote(${name})`).join(", ")})`;
  const now = Date.now();
  sql.transaction(() => {
    sql.all(
      "create table if not exists set_aside(at integer not null, source text not null, row text not null)",
    );
    sql.all(`insert into set_aside select ?, ?, ${row} from ${table} where ${condition}`, now, table);
    sql.all(`delete from ${table} where ${condition}`);
  });
  console.error(
    JSON.stringify({ at: new Date(now).toISOString(), damaged_rows: rows, table, kept_in: "set_aside" }),
  );
  return rows;
}

/**
 * Runs `work`. If it throws and there are damaged rows, moves them away and runs `work` once more.
 *
 * @param work reads, or writes within its own transaction
 * @throws the error of `work`
 */
export function retryWithoutDamagedRows<T>(sql: Sql, checks: readonly TableCheck[], work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (quarantineDamagedRows(sql, checks) === 0) throw error;
    return work();
  }
}
