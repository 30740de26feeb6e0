/** Maximum number of candidates to read: their texts cost time. */
const MAX_CANDIDATES = 2_000;

/**
 * The best value of candidates that arrive in the order of a document. The lowest rank wins, and the first candidate of
 * equal rank.
 */
export class FirstChoice {
  #rank = Number.POSITIVE_INFINITY;
  #value: string | null = null;
  #read = 0;

  get value(): string | null {
    return this.#value;
  }

  /** @param read returns the value of the candidate, or null if it is not valid; called only if its rank is better */
  offer(rank: number, read: () => string | null): void {
    if (rank >= this.#rank || ++this.#read > MAX_CANDIDATES) return;
    const value = read();
    if (value === null) return;
    this.#value = value;
    this.#rank = rank;
  }
}
