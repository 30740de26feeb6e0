import type { HistoryWrite, Retention } from "./archive.ts";
import type { RequestUsage } from "./usage.ts";

/** The data to store about a request once its outcome is known. */
export interface StoredOutcome {
  readonly retention: Retention;
  /** History records of finished generations. */
  readonly records: readonly HistoryWrite[];
  /** What the request used; null if it used nothing. */
  readonly used: RequestUsage | null;
  /** When the request ended, Unix milliseconds. */
  readonly endedAt: number;
}

/**
 * History and usage in the gateway's own process (Deno). The store saves a request's outcome before the end of its
 * answer is sent, so killing the process loses no outcome of an answered request.
 */
export interface OutcomeStore {
  /**
   * Writes a request's outcome in one transaction. The outcome is stored when this returns.
   *
   * @returns the number of the note of `used`, which the usage message that counts the request includes; undefined
   * without `used`
   * @throws any error of the database; then nothing was written.
   */
  write(outcome: StoredOutcome): number | undefined;
}
