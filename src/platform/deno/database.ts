import { DatabaseSync, type SQLInputValue, type SQLOutputValue, type StatementSync } from "node:sqlite";
import type { Sql, SqlRow, SqlValue } from "../../storage/sql.ts";

/**
 * Pages of 4 KiB in the log before SQLite copies them into the file. Each copy waits for the disk, and each answered request adds
 * some five pages: with SQLite's 1,000 the copies took more than the writes.
 */
const LOG_PAGES = 4_000;

/** Statements that are kept compiled. */
const MAX_STATEMENTS = 200;

/**
 * A SQLite file. What has been written survives the end of the process, however sudden; the last moments before a power
 * failure may be lost, but the file stays whole.
 */
export class Database implements Sql {
  readonly #database: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();
  readonly #utf8 = { encoder: new TextEncoder(), decoder: new TextDecoder() };

  /** Opens the file at `path`, and makes it if there is none. */
  constructor(path: string) {
    this.#database = new DatabaseSync(path);
    this.#database.exec("pragma journal_mode = wal");
    this.#database.exec("pragma synchronous = normal");
    this.#database.exec(`pragma wal_autocheckpoint = ${LOG_PAGES}`);
  }

  /** An integer beyond 2^53 comes as the nearest number: a Durable Object reads it the same way. */
  all(statement: string, ...values: readonly SqlValue[]): readonly SqlRow[] {
    return this.#prepare(statement)
      .all(...values.map((value) => this.#given(value)))
      .map((row) => this.#row(row));
  }

  /** One within another is part of that. */
  transaction(work: () => void): void {
    if (this.#database.isTransaction) {
      work();
      return;
    }
    this.#database.exec("begin immediate");
    try {
      work();
      this.#database.exec("commit");
    } catch (error) {
      // SQLite itself has done so when the disk is full.
      if (this.#database.isTransaction) this.#database.exec("rollback");
      throw error;
    }
  }

  /** Closes the file; nothing can be read or written any more. */
  close(): void {
    this.#statements.clear();
    this.#database.close();
  }

  #prepare(text: string): StatementSync {
    let statement = this.#statements.get(text);
    if (statement === undefined) {
      if (this.#statements.size >= MAX_STATEMENTS) this.#statements.clear();
      statement = this.#database.prepare(text);
      // Without this the driver throws at the first integer beyond 2^53.
      statement.setReadBigInts(true);
      this.#statements.set(text, statement);
    }
    return statement;
  }

  /** The driver ends a text at its first NUL when it reads; as bytes it stays whole. */
  #given(value: SqlValue): SQLInputValue {
    return typeof value === "string" && value.includes("\0") ? this.#utf8.encoder.encode(value) : value;
  }

  #row(row: Record<string, SQLOutputValue>): SqlRow {
    return Object.fromEntries(Object.entries(row).map(([column, value]) => [column, this.#read(value)]));
  }

  #read(value: SQLOutputValue): SqlValue {
    if (typeof value === "bigint") return Number(value);
    return value instanceof Uint8Array ? this.#utf8.decoder.decode(value) : value;
  }
}
