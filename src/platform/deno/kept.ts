import { type Sql, textIn } from "../../storage/sql.ts";
import type { FileStore } from "../files.ts";
import type { ResponseStore } from "../responses.ts";

/** How often what has expired is dropped, milliseconds. */
const SWEEP_MS = 60_000;

/** What is kept for callers until it expires: stored responses, and what is remembered of uploaded files. */
export class KeptForCallers {
  readonly #sql: Sql;
  readonly #now: () => number;
  #sweptAt = Number.NEGATIVE_INFINITY;

  /** `now` gives milliseconds since the epoch. */
  constructor(sql: Sql, now: () => number) {
    this.#sql = sql;
    this.#now = now;
    sql.all(
      "create table if not exists kept(owner text not null, kind text not null, id text not null, expires integer not null, text text not null, primary key(owner, kind, id)) without rowid",
    );
    sql.all("create index if not exists kept_expires on kept(expires)");
  }

  /** The stored responses of one caller. */
  responses(owner: string): ResponseStore {
    return {
      get: async (id) => this.#get(owner, "response", id),
      put: async (response) => this.#put(owner, "response", response),
    };
  }

  /** The uploaded files of one caller. */
  files(owner: string): FileStore {
    return {
      get: async (id) => this.#get(owner, "file", id),
      put: async (file) => this.#put(owner, "file", file),
    };
  }

  #get<T>(owner: string, kind: string, id: string): T | null {
    const [row] = this.#sql.all(
      "select text from kept where owner = ? and kind = ? and id = ? and expires > ?",
      owner,
      kind,
      id,
      this.#now(),
    );
    return row === undefined ? null : JSON.parse(textIn(row, "text"));
  }

  #put(owner: string, kind: string, value: { readonly id: string; readonly expiresAt: number }): void {
    const now = this.#now();
    if (now - this.#sweptAt >= SWEEP_MS) {
      this.#sweptAt = now;
      this.#sql.all("delete from kept where expires <= ?", now);
    }
    this.#sql.all(
      "insert or replace into kept values(?, ?, ?, ?, ?)",
      owner,
      kind,
      value.id,
      value.expiresAt,
      JSON.stringify(value),
    );
  }
}
