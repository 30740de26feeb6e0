import type { HistoryWrite, Retention } from "./archive.ts";
import type { UsedRequest } from "./usage.ts";

/** What a request leaves behind whose outcome is known. */
export interface AnswerWrite {
  readonly retention: Retention;
  /** Records of generations that have ended. */
  readonly records: readonly HistoryWrite[];
  /** What the request used; null: nothing. */
  readonly used: UsedRequest | null;
  /** When the request ended, Unix milliseconds. */
  readonly endedAt: number;
}

/**
 * History and usage in the gateway's own process (Deno). They take a request's outcome before the end of its answer is sent, so
 * that the kill of the process loses nothing that was answered.
 */
export interface AnswerStore {
  /**
   * Writes a request's outcome in one transaction. It is stored when this returns.
   *
   * @returns the number of the note of `used`, which the usage message that counts the request names; undefined without `used`
   * @throws what the database throws. Then nothing was written.
   */
  write(answer: AnswerWrite): number | undefined;
}
