import { numberIn, type Sql, textIn } from "../../core/storage/sql.ts";
import { DAY_MS } from "../../core/units.ts";

/** No generation runs this long: the deletion of a key's entries is forgotten after it. */
const KEY_DELETION_MS = 7 * DAY_MS;

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

  /** Records that all entries of the kind are being deleted, or with an id those of one API key. */
  advance(key = ""): void {
    // Entries of the same millisecond may be later than the deletion.
    const at = this.#now() - 1;
    this.#sql.all("delete from cleared where kind glob ? and at<?", `${this.#kind}/*`, at - KEY_DELETION_MS);
    this.#sql.all(
      "insert or replace into cleared values(?,?)",
      key === "" ? this.#kind : `${this.#kind}/${key}`,
      at,
    );
  }

  /**
   * Returns a function that returns until when the entries of a key are deleted; `-Infinity`: none are.
   *
   * @param sentAt when the reporting message was sent; the result is then on the sender's clock. Absent: on the archive's
   * own clock
   */
  deletedUntil(sentAt?: number): (key: string) => number {
    const times = this.#read();
    // 1 more: both clocks are rounded, each on its own.
    const difference = sentAt === undefined ? 0 : this.#now() - sentAt + 1;
    const timeOf = (kind: string) => times.get(kind) ?? Number.NEGATIVE_INFINITY;
    return (key) => Math.max(timeOf(this.#kind), timeOf(`${this.#kind}/${key}`)) - difference;
  }

  /** Reads the table each time, because a transaction may be rolled back. */
  #read(): Map<string, number> {
    const rows = this.#sql.all(
      "select kind, at from cleared where kind=? or kind glob ?",
      this.#kind,
      `${this.#kind}/*`,
    );
    const times = new Map(rows.map((row) => [textIn(row, "kind"), numberIn(row, "at")]));
    for (const [kind, at] of times) {
      if (at <= this.#now()) continue;
      // The clock was ahead and has been set back, so the order is unknown. Keeping a deleted entry is better than losing a
      // new one.
      this.#sql.all("delete from cleared where kind=?", kind);
      times.delete(kind);
    }
    return times;
  }
}
