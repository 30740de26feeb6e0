import { type Sql, type SqlValue, textIn } from "./sql.ts";

/** SQLite rows are bounded: a text is kept in pieces of this many characters. */
const PIECE = 400_000;

/** Values that one statement takes: Durable Objects allow a hundred. */
const MOST_VALUES = 100;

/** Whether a text cut before `at` would lose half of a character. */
function splitsPair(text: string, at: number): boolean {
  const before = text.charCodeAt(at - 1);
  return before >= 0xd800 && before < 0xdc00;
}

/** The first `limit` characters of a text, one fewer where that would cut a character in half. */
export function cutText(text: string, limit: number): string {
  if (text.length <= limit) return text;
  return text.slice(0, limit > 0 && splitsPair(text, limit) ? limit - 1 : limit);
}

/** A text that was cut out of `whole`, as one of its own: a piece of a long text keeps all of it in memory. */
export function ownText(text: string, whole: string): string {
  return text.length === whole.length ? text : new TextDecoder().decode(new TextEncoder().encode(text));
}

/**
 * A text in pieces of at most `size` characters (UTF-16 units; at least 2), never cut between the halves of a surrogate
 * pair: halves do not survive storage. An empty text has no pieces.
 */
export function* piecesOf(text: string, size: number): Generator<string> {
  for (let start = 0; start < text.length; ) {
    const end = start + size;
    const next = end < text.length && splitsPair(text, end) ? end - 1 : end;
    yield text.slice(start, next);
    start = next;
  }
}

/**
 * Inserts rows of the same columns with few statements, as each has its price. `table` may name the columns. To be called within a
 * transaction that is undone when it throws: of a statement that fails, the rows before the one at fault stay. Otherwise SQLite would
 * copy, for each statement, every page that it changes.
 */
export function insertRows(sql: Sql, table: string, rows: readonly (readonly SqlValue[])[]): void {
  const width = rows[0]?.length ?? 1;
  const atOnce = Math.floor(MOST_VALUES / width);
  const place = `(${Array.from({ length: width }, () => "?").join()})`;
  for (let at = 0; at < rows.length; at += atOnce) {
    const some = rows.slice(at, at + atOnce);
    sql.all(`insert or fail into ${table} values${some.map(() => place).join()}`, ...some.flat());
  }
}

/** Long texts of things that are kept elsewhere, by owner and name. */
export class TextTable {
  readonly #sql: Sql;
  readonly #table: string;

  /** Makes the table, if there is none of this name. */
  constructor(sql: Sql, table: string) {
    this.#sql = sql;
    this.#table = table;
    sql.all(
      `create table if not exists ${table}(owner text, name text, n integer, text text, primary key(owner, name, n)) without rowid`,
    );
  }

  /** Keeps a text; an earlier one of the same name is replaced. `fresh`: there is none yet. */
  put(owner: string, name: string, text: string, fresh = false): void {
    if (!fresh) this.#sql.all(`delete from ${this.#table} where owner=? and name=?`, owner, name);
    let n = 0;
    for (const piece of piecesOf(text, PIECE)) {
      this.#sql.all(`insert into ${this.#table} values(?,?,?,?)`, owner, name, n, piece);
      n += 1;
    }
  }

  /** Keeps the texts of owners that have none yet, with few statements. */
  putFresh(texts: Iterable<readonly [owner: string, texts: Readonly<Record<string, string>>]>): void {
    const rows: SqlValue[][] = [];
    for (const [owner, named] of texts) {
      for (const [name, text] of Object.entries(named)) {
        let n = 0;
        for (const piece of piecesOf(text, PIECE)) {
          rows.push([owner, name, n, piece]);
          n += 1;
        }
      }
    }
    insertRows(this.#sql, this.#table, rows);
  }

  /** A text; empty when there is none. */
  get(owner: string, name: string): string {
    return this.#sql
      .all(`select text from ${this.#table} where owner=? and name=? order by n`, owner, name)
      .map((row) => textIn(row, "text"))
      .join("");
  }

  /** Forgets all texts of the owners that a query names. */
  deleteOf(query: string, ...values: readonly (number | string)[]): void {
    this.#sql.all(`delete from ${this.#table} where owner in (${query})`, ...values);
  }

  /** Forgets all texts of an owner. */
  delete(owner: string): void {
    this.#sql.all(`delete from ${this.#table} where owner=?`, owner);
  }
}
