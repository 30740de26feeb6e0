import { DatabaseSync, type SQLInputValue, type SQLOutputValue, type StatementSync } from "node:sqlite";
import type { Sql, SqlRow, SqlValue } from "../../core/storage/sql.ts";

/**
 * Pages of 4 KiB in the write-ahead log before SQLite copies them into the file. Each copy waits for the disk, and each
 * answered request adds about five pages. With SQLite's default of 1,000 the copies took longer than the writes.
 */
const CHECKPOINT_PAGES = 4_000;

/** Limit of cached prepared statements. */
const MAX_STATEMENTS = 200;

/**
 * A SQLite file. Writes survive the end of the process, however sudden. A power failure may lose the last moments, but the
 * file stays consistent.
 */
export class Database implements Sql {
  readonly #database: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();
  readonly #utf8 = { encoder: new TextEncoder(), decoder: new TextDecoder() };

  /** Opens the file at `path`, and creates it if necessary. */
  constructor(path: string) {
    this.#database = new DatabaseSync(path);
    this.#database.exec("pragma journal_mode = wal");
    // Deleted texts are overwritten, because an erasure must not leave them in the file.
    this.#database.exec("pragma secure_delete = on");
    this.#database.exec("pragma synchronous = normal");
    this.#database.exec(`pragma wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
  }

  /** Integers beyond 2^53 are rounded to the nearest number, as in a Durable Object. */
  all(statement: string, ...values: readonly SqlValue[]): readonly SqlRow[] {
    return this.#prepare(statement)
      .all(...values.map((value) => this.#toInputValue(value)))
      .map((row) => this.#toRow(row));
  }

  /** A nested transaction joins the outer one. */
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
      // SQLite itself has rolled back if the disk is full.
      if (this.#database.isTransaction) this.#database.exec("rollback");
      throw error;
    }
  }

  /** Closes the file; no reads or writes work afterwards. */
  close(): void {
    this.#statements.clear();
    this.#database.close();
  }

  #prepare(text: string): StatementSync {
    let statement = this.#statements.get(text);
    if (statement === undefined) {
      if (this.#statements.size >= MAX_STATEMENTS) this.#statements.clear();
      statement = this.#database.prepare(text);
      // Otherwise the driver throws at integers beyond 2^53.
      statement.setReadBigInts(true);
      this.#statements.set(text, statement);
    }
    return statement;
  }

  /** The driver truncates text at its first NUL when it reads; bytes stay complete. */
  #toInputValue(value: SqlValue): SQLInputValue {
    return typeof value === "string" && value.includes("\0") ? this.#utf8.encoder.encode(value) : value;
  }

  #toRow(row: Record<string, SQLOutputValue>): SqlRow {
    return Object.fromEntries(
      Object.entries(row).map(([column, value]) => [column, this.#fromOutputValue(value)]),
    );
  }

  #fromOutputValue(value: SQLOutputValue): SqlValue {
    if (typeof value === "bigint") return Number(value);
    return value instanceof Uint8Array ? this.#utf8.decoder.decode(value) : value;
  }
}
