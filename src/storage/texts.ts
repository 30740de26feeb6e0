import { type Sql, textIn } from "./sql.ts";

/** SQLite rows are bounded: a text is kept in pieces of this many characters. */
const PIECE = 400_000;

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

/** Long texts of things that are kept elsewhere, by owner and name. */
export class TextTable {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
    sql.all(
      "create table if not exists piece(owner text, name text, n integer, text text, primary key(owner, name, n)) without rowid",
    );
  }

  /** Keeps a text; an earlier one of the same name is replaced. `fresh`: there is none yet. */
  put(owner: string, name: string, text: string, fresh = false): void {
    if (!fresh) this.#sql.all("delete from piece where owner=? and name=?", owner, name);
    for (let start = 0, n = 0; start < text.length; n += 1) {
      const end = start + PIECE;
      const next = end < text.length && splitsPair(text, end) ? end - 1 : end;
      this.#sql.all("insert into piece values(?,?,?,?)", owner, name, n, text.slice(start, next));
      start = next;
    }
  }

  /** A text; empty when there is none. */
  get(owner: string, name: string): string {
    return this.#sql
      .all("select text from piece where owner=? and name=? order by n", owner, name)
      .map((row) => textIn(row, "text"))
      .join("");
  }

  /** Forgets all texts of the owners that a query names. */
  deleteOf(query: string, ...values: readonly number[]): void {
    this.#sql.all(`delete from piece where owner in (${query})`, ...values);
  }

  /** Forgets all texts of an owner. */
  delete(owner: string): void {
    this.#sql.all("delete from piece where owner=?", owner);
  }
}
