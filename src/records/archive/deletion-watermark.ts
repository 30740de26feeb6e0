import { numberIn, type Sql } from "../../core/storage/sql.ts";

/**
 * The time at which all entries of a kind were last deleted. Isolates may report older entries later, because a report
 * waited or a generation was still running. Such reports must not bring entries back.
 *
 * The watermark is a time of the archive's own clock. A sender's clock may be ahead of it or behind it, so absolute times of
 * the two clocks cannot be compared. Instead, the archive uses the age that an entry had when the sender sent its message:
 * an age is the same on all clocks. The transport time of the message makes an entry seem younger, never older. If
 * milliseconds are too coarse to tell the order, the entry stays.
 */
export class DeletionWatermark {
  readonly #sql: Sql;
  readonly #kind: string;
  readonly #now: () => number;

  /** @param kind the name under which the time is stored */
  constructor(sql: Sql, kind: string, now: () => number) {
    this.#sql = sql;
    this.#kind = kind;
    this.#now = now;
    sql.all("create table if not exists cleared(kind text primary key, at integer not null) without rowid");
    this.#read();
  }

  /** Records that all entries of the kind are being deleted. */
  advance(): void {
    // Entries of the same millisecond may be later than the deletion.
    this.#sql.all("insert or replace into cleared values(?,?)", this.#kind, this.#now() - 1);
  }

  /**
   * Entries made up to this time are deleted; `-Infinity`: none.
   *
   * @param sentAt when the reporting message was sent; the result is then on the sender's clock. Absent: on the archive's
   * own clock
   */
  deletedUntil(sentAt?: number): number {
    const at = this.#read();
    // Minus 1: both clocks are rounded, each on its own.
    return sentAt === undefined ? at : at - (this.#now() - sentAt) - 1;
  }

  /** Reads the table each time, because a transaction may be rolled back. */
  #read(): number {
    const row = this.#sql.all("select at from cleared where kind=?", this.#kind)[0];
    if (row === undefined) return Number.NEGATIVE_INFINITY;
    const at = numberIn(row, "at");
    if (at <= this.#now()) return at;
    // The clock was ahead and has been set back, so the order is unknown. Keeping a deleted entry is better than losing a
    // new one.
    this.#sql.all("delete from cleared where kind=?", this.#kind);
    return Number.NEGATIVE_INFINITY;
  }
}
