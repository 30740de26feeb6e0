import { splitText } from "../encoding/text-slices.ts";
import { type Sql, type SqlValue, textIn } from "./sql.ts";

/** SQLite limits the size of a row: long texts are stored in chunks of this many characters. */
const CHUNK_CHARACTERS = 400_000;

/** Maximum bound values per statement: Durable Objects allow 100. */
const MAX_BOUND_VALUES = 100;

/**
 * Inserts rows with the same columns in few statements, since each statement has a fixed cost. `table` may include the
 * column names.
 * Call it within a transaction that rolls back on an error: `insert or fail` keeps the rows before a failing one. The
 * default conflict mode would make SQLite copy each changed page per statement.
 */
export function insertRows(sql: Sql, table: string, rows: readonly (readonly SqlValue[])[]): void {
  const width = rows[0]?.length ?? 1;
  const atOnce = Math.floor(MAX_BOUND_VALUES / width);
  const placeholders = `(${Array.from({ length: width }, () => "?").join()})`;
  for (let at = 0; at < rows.length; at += atOnce) {
    const batch = rows.slice(at, at + atOnce);
    sql.all(`insert or fail into ${table} values${batch.map(() => placeholders).join()}`, ...batch.flat());
  }
}

/** Stores long texts in chunks, by owner and name. */
export class TextTable {
  readonly #sql: Sql;
  readonly #table: string;

  /** Creates the table if it does not exist. */
  constructor(sql: Sql, table: string) {
    this.#sql = sql;
    this.#table = table;
    sql.all(
      `create table if not exists ${table}(owner text, name text, n integer, text text, primary key(owner, name, n)) without rowid`,
    );
  }

  /** Stores a text and replaces an earlier one with the same owner and name. `isNew`: there is no earlier text. */
  put(owner: string, name: string, text: string, isNew = false): void {
    if (!isNew) this.#sql.all(`delete from ${this.#table} where owner=? and name=?`, owner, name);
    let n = 0;
    for (const piece of splitText(text, CHUNK_CHARACTERS)) {
      this.#sql.all(`insert into ${this.#table} values(?,?,?,?)`, owner, name, n, piece);
      n += 1;
    }
  }

  /** Stores the texts of owners that have no texts yet, in few statements. */
  insertAll(texts: Iterable<readonly [owner: string, texts: Readonly<Record<string, string>>]>): void {
    const rows: SqlValue[][] = [];
    for (const [owner, ownerTexts] of texts) {
      for (const [name, text] of Object.entries(ownerTexts)) {
        let n = 0;
        for (const piece of splitText(text, CHUNK_CHARACTERS)) {
          rows.push([owner, name, n, piece]);
          n += 1;
        }
      }
    }
    insertRows(this.#sql, this.#table, rows);
  }

  /** A text; empty if there is none. */
  get(owner: string, name: string): string {
    return this.#sql
      .all(`select text from ${this.#table} where owner=? and name=? order by n`, owner, name)
      .map((row) => textIn(row, "text"))
      .join("");
  }

  /** Deletes all texts of the owners that a query returns. */
  deleteOwners(query: string, ...values: readonly (number | string)[]): void {
    this.#sql.all(`delete from ${this.#table} where owner in (${query})`, ...values);
  }

  /** Deletes all texts of an owner. */
  delete(owner: string): void {
    this.#sql.all(`delete from ${this.#table} where owner=?`, owner);
  }
}
