import { numberIn, type Sql } from "../storage/sql.ts";

/**
 * When all of one kind was removed last. What isolates tell of it afterwards, because it waited to be sent or had not ended, must not
 * bring it back.
 *
 * The mark is a time of the archive's own clock, the one that all tellers have in common. Theirs may differ from it, and from each other:
 * compared with their times as they are, what begins after the clearing would be lost while the archive's clock is ahead of theirs. So of
 * theirs only differences count: how long before it was sent a thing was made is what both clocks agree on. The time that the message was
 * under way makes it seem younger than it is, never older, and where milliseconds are too coarse to tell what came first it is kept.
 */
export class Clearing {
  readonly #sql: Sql;
  readonly #kind: string;
  readonly #now: () => number;

  /** @param kind the name under which the time is kept */
  constructor(sql: Sql, kind: string, now: () => number) {
    this.#sql = sql;
    this.#kind = kind;
    this.#now = now;
    sql.all("create table if not exists cleared(kind text primary key, at integer not null) without rowid");
    this.#read();
  }

  /** All of the kind is being removed. */
  mark(): void {
    // What comes in this very millisecond may come after it.
    this.#sql.all("insert or replace into cleared values(?,?)", this.#kind, this.#now() - 1);
  }

  /**
   * What was made up to this time is removed; `-Infinity`: nothing is.
   *
   * @param sentAt when the message that tells of it was sent, by the clock whose time is wanted; absent: the archive's own
   */
  until(sentAt?: number): number {
    const at = this.#read();
    // Two clocks are rounded, each on its own.
    return sentAt === undefined ? at : at - (this.#now() - sentAt) - 1;
  }

  /** Read each time: a transaction may be taken back. */
  #read(): number {
    const row = this.#sql.all("select at from cleared where kind=?", this.#kind)[0];
    if (row === undefined) return Number.NEGATIVE_INFINITY;
    const at = numberIn(row, "at");
    if (at <= this.#now()) return at;
    // The clock was ahead, and has been set back. What came when is not known any more: rather something comes back than is lost.
    this.#sql.all("delete from cleared where kind=?", this.#kind);
    return Number.NEGATIVE_INFINITY;
  }
}
