import { DurableObject } from "cloudflare:workers";
import type { Env } from "../src/platform/cloudflare/env.ts";
import type { StoredResponse } from "../src/responses/store.ts";

/** SQLite rows are bounded, stored conversations are not: a value is kept in pieces of this many characters. */
const PIECE = 500_000;

/** The stored responses of one caller, until they expire (contract, Stored response). */
export class ResponseStore extends DurableObject<Env> {
  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    ctx.storage.sql.exec(
      `create table if not exists response(id text primary key, expires integer not null);
       create table if not exists piece(id text not null, n integer not null, text text not null, primary key(id, n));
       create index if not exists response_expires on response(expires)`,
    );
  }

  /** The response with this id, unless it has expired. */
  get(id: string): StoredResponse | null {
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
    this.ctx.storage.transactionSync(() => {
      sql.exec("delete from piece where id=?", response.id);
      sql.exec("insert or replace into response values(?,?)", response.id, response.expiresAt);
      for (let start = 0, n = 0; start < text.length; start += PIECE, n += 1) {
        sql.exec("insert into piece values(?,?,?)", response.id, n, text.slice(start, start + PIECE));
      }
    });
    const alarm = await this.ctx.storage.getAlarm();
    if (alarm === null || alarm > response.expiresAt) await this.ctx.storage.setAlarm(response.expiresAt);
  }

  /** Forgets what has expired, and itself when nothing is left. */
  override async alarm(): Promise<void> {
    const { sql } = this.ctx.storage;
    const now = Date.now();
    sql.exec("delete from piece where id in (select id from response where expires<=?)", now);
    sql.exec("delete from response where expires<=?", now);
    const next = sql.exec<{ next: number | null }>("select min(expires) next from response").one().next;
    if (next === null) await this.ctx.storage.deleteAll();
    else await this.ctx.storage.setAlarm(Math.max(next, now + 1000));
  }
}
