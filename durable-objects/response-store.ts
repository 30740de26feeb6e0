import { DurableObject } from "cloudflare:workers";
import type { Env } from "../src/platform/cloudflare/env.ts";
import type { KeptFile } from "../src/platform/files.ts";
import type { StoredResponse } from "../src/platform/responses.ts";

/** SQLite rows are bounded, stored conversations are not: a value is kept in pieces of this many characters. */
const PIECE = 500_000;

/** Cuts a text into pieces, never between the halves of a surrogate pair: halves do not survive storage. */
function* piecesOf(text: string): Generator<string> {
  for (let start = 0; start < text.length; ) {
    let end = start + PIECE;
    const last = text.charCodeAt(end - 1);
    if (last >= 0xd800 && last < 0xdc00) end -= 1;
    yield text.slice(start, end);
    start = end;
  }
}

/**
 * What is kept for one caller until it expires: stored responses (contract, Stored response) and what is remembered of
 * uploaded files.
 */
export class ResponseStore extends DurableObject<Env> {
  /** Whether the tables are there. A caller that stores nothing costs no storage. */
  #made: boolean;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    const { sql } = ctx.storage;
    this.#made = sql.exec("select 1 from sqlite_master where name='file'").toArray().length > 0;
  }

  /** The response with this id, unless it has expired. */
  get(id: string): StoredResponse | null {
    if (!this.#made) return null;
    const { sql } = this.ctx.storage;
    const row = sql.exec<{ expires: number }>("select expires from response where id=?", id).toArray()[0];
    if (row === undefined || row.expires <= Date.now()) return null;
    const pieces = sql.exec<{ text: string }>("select text from piece where id=? order by n", id).toArray();
    return JSON.parse(pieces.map(({ text }) => text).join(""));
  }

  /** Keeps a response; an earlier one with the same id is replaced. */
  async put(response: StoredResponse): Promise<void> {
    const { sql } = this.ctx.storage;
    const text = JSON.stringify(response);
    this.#make();
    this.ctx.storage.transactionSync(() => {
      sql.exec("delete from piece where id=?", response.id);
      sql.exec("insert or replace into response values(?,?)", response.id, response.expiresAt);
      let n = 0;
      for (const piece of piecesOf(text)) {
        sql.exec("insert into piece values(?,?,?)", response.id, n, piece);
        n += 1;
      }
    });
    await this.#wakeBy(response.expiresAt);
  }

  /** The uploaded file with this id, unless it has expired. */
  getFile(id: string): KeptFile | null {
    if (!this.#made) return null;
    const { sql } = this.ctx.storage;
    const rows = sql.exec<{ text: string; expires: number }>("select text, expires from file where id=?", id);
    const row = rows.toArray()[0];
    return row === undefined || row.expires <= Date.now() ? null : JSON.parse(row.text);
  }

  /** Remembers an uploaded file. */
  async putFile(file: KeptFile): Promise<void> {
    this.#make();
    const text = JSON.stringify(file);
    this.ctx.storage.sql.exec("insert or replace into file values(?,?,?)", file.id, file.expiresAt, text);
    await this.#wakeBy(file.expiresAt);
  }

  /** Forgets what has expired, and itself when nothing is left. */
  override async alarm(): Promise<void> {
    if (!this.#made) return;
    const { sql } = this.ctx.storage;
    const now = Date.now();
    sql.exec("delete from piece where id in (select id from response where expires<=?)", now);
    sql.exec("delete from response where expires<=?", now);
    sql.exec("delete from file where expires<=?", now);
    const next = sql
      .exec<{ next: number | null }>(
        "select min(expires) next from (select expires from response union all select expires from file)",
      )
      .one().next;
    if (next !== null) {
      await this.ctx.storage.setAlarm(Math.max(next, now + 1000));
      return;
    }
    this.#made = false;
    await this.ctx.storage.deleteAll();
  }

  async #wakeBy(time: number): Promise<void> {
    const alarm = await this.ctx.storage.getAlarm();
    if (alarm === null || alarm > time) await this.ctx.storage.setAlarm(time);
  }

  #make(): void {
    if (this.#made) return;
    this.ctx.storage.sql.exec(
      `create table if not exists response(id text primary key, expires integer not null);
       create table if not exists piece(id text not null, n integer not null, text text not null, primary key(id, n));
       create index if not exists response_expires on response(expires);
       create table if not exists file(id text primary key, expires integer not null, text text not null);
       create index if not exists file_expires on file(expires)`,
    );
    this.#made = true;
  }
}
