import { numberIn, type Sql, textIn } from "./sql.ts";

/** Which JSON value a column holds. */
export type JsonKind = "object" | "array";

/** What the columns of a table must hold; null, and an empty text instead of JSON, are sound in all of them. */
export interface TableCheck {
  readonly table: string;
  /** Columns with a number that is not negative. The value is the largest one; null: any that a sum can take. */
  readonly numbers?: Readonly<Record<string, number | null>>;
  readonly json?: Readonly<Record<string, JsonKind>>;
}

/** Larger numbers are damage: sums of smaller ones stay finite. */
const LARGEST = 1e100;

/** The latest time that a `Date` can hold, Unix milliseconds. */
export const LATEST_TIME = 8.64e15;

/** A condition that is true for damaged rows, and for them alone. In SQLite every text is larger than every number. */
function damageIn({ numbers = {}, json = {} }: TableCheck): string {
  return [
    ...Object.entries(numbers).map(([column, most]) => `not (${column} between 0 and ${most ?? LARGEST})`),
    ...Object.entries(json).map(
      ([column, kind]) =>
        `${column} <> '' and iif(json_valid(${column}), json_type(${column}) <> '${kind}', 1)`,
    ),
  ]
    .map((condition) => `coalesce(${condition}, 0)`)
    .join(" or ");
}

/**
 * Moves rows that no reader can use to the table `set_aside`, and writes a line to the log for each table that had some. There a
 * row is a JSON object of SQL literals, so that nothing of it is lost.
 *
 * @returns how many rows were moved
 */
export function setAsideDamaged(sql: Sql, checks: readonly TableCheck[]): number {
  return checks.reduce((moved, check) => moved + setAsideWhere(sql, check.table, damageIn(check)), 0);
}

/** The same for the rows of one table that meet a condition. */
export function setAsideWhere(sql: Sql, table: string, condition: string): number {
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
 * Runs `work`. If it throws and there are damaged rows, they are set aside and `work` runs once more.
 *
 * @param work reads, or writes within a transaction of its own
 * @throws what `work` throws
 */
export function withoutDamaged<T>(sql: Sql, checks: readonly TableCheck[], work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (setAsideDamaged(sql, checks) === 0) throw error;
    return work();
  }
}
