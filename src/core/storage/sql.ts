/** The value of a column. */
export type SqlValue = string | number | null;

/** A row, by column name. */
export type SqlRow = Readonly<Record<string, SqlValue>>;

/** A SQLite database that runs one statement at a time, synchronously. */
export interface Sql {
  /** Runs one statement and returns its rows. */
  all(statement: string, ...values: readonly SqlValue[]): readonly SqlRow[];
  /**
   * Runs `work` in a transaction. Throws any error of `work` or the database; then no write takes effect. Can be
   * nested.
   */
  transaction(work: () => void): void;
}

/** A column as a number; 0 if it holds no number. */
export function numberIn(row: SqlRow | undefined, column: string): number {
  const value = row?.[column];
  return typeof value === "number" ? value : 0;
}

/**
 * A column as an amount: finite and not negative. Returns 0 if the row is missing or the column is null.
 *
 * @throws Error for any other value, see `retryWithoutDamagedRows`
 */
export function amountIn(row: SqlRow | undefined, column: string): number {
  const value = row?.[column] ?? 0;
  if (typeof value === "number" && value >= 0 && value < Number.POSITIVE_INFINITY) return value;
  throw new Error(`the column ${column} holds no amount`);
}

/** A column as a text; empty if it holds no text. */
export function textIn(row: SqlRow | undefined, column: string): string {
  const value = row?.[column];
  return typeof value === "string" ? value : "";
}
