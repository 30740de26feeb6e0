/** What a column holds. */
export type SqlValue = string | number | null;

/** A row by column name. */
export type SqlRow = Readonly<Record<string, SqlValue>>;

/** A SQLite database of which one statement at a time is run, synchronously. */
export interface Sql {
  /** Runs one statement and returns its rows. */
  all(statement: string, ...values: readonly SqlValue[]): readonly SqlRow[];
  /** Runs `work` so that all of its writes happen or none. Throws what `work` or the database throws: then none happened. May be nested. */
  transaction(work: () => void): void;
}

/** A column as a number; 0 when it holds none. */
export function numberIn(row: SqlRow | undefined, column: string): number {
  const value = row?.[column];
  return typeof value === "number" ? value : 0;
}

/**
 * A column as an amount: finite and not negative; 0 when there is no row, or it holds none.
 *
 * @throws Error when it holds anything else, see `withoutDamaged`
 */
export function amountIn(row: SqlRow | undefined, column: string): number {
  const value = row?.[column] ?? 0;
  if (typeof value === "number" && value >= 0 && value < Number.POSITIVE_INFINITY) return value;
  throw new Error(`the column ${column} holds no amount`);
}

/** A column as a text; empty when it holds none. */
export function textIn(row: SqlRow | undefined, column: string): string {
  const value = row?.[column];
  return typeof value === "string" ? value : "";
}
