import { DurableObject } from "cloudflare:workers";
import type { Env } from "../src/platform/cloudflare/env.ts";
import type { StoredResponse } from "../src/responses/store.ts";

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

/** The stored responses of one caller, until they expire (contract, Stored response). */
export class ResponseStore extends DurableObject<Env> {
  /** Whether the tables are there. A caller that stores nothing costs no storage. */
  #made: boolean;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    const { sql } = ctx.storage;
    this.#made = sql.exec("select 1 from sqlite_master where name='response'").toArray().length > 0;
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
    const alarm = await this.ctx.storage.getAlarm();
    if (alarm === null || alarm > response.expiresAt) await this.ctx.storage.setAlarm(response.expiresAt);
  }

  /** Forgets what has expired, and itself when nothing is left. */
  override async alarm(): Promise<void> {
    if (!this.#made) return;
    const { sql } = this.ctx.storage;
    const now = Date.now();
    sql.exec("delete from piece where id in (select id from response where expires<=?)", now);
    sql.exec("delete from response where expires<=?", now);
    const next = sql.exec<{ next: number | null }>("select min(expires) next from response").one().next;
    if (next !== null) {
      await this.ctx.storage.setAlarm(Math.max(next, now + 1000));
      return;
    }
    this.#made = false;
    await this.ctx.storage.deleteAll();
  }

  #make(): void {
    if (this.#made) return;
    this.ctx.storage.sql.exec(
      `create table if not exists response(id text primary key, expires integer not null);
       create table if not exists piece(id text not null, n integer not null, text text not null, primary key(id, n));
       create index if not exists response_expires on response(expires)`,
    );
    this.#made = true;
  }
}
