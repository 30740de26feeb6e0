/** One request with limits, stored until it no longer counts towards a minute. Times are Unix milliseconds. */
export interface StoredUse {
  readonly id: string;
  /** The first subject, see `formatSubject`; empty: none. */
  readonly subject: string;
  /** The names of further subjects. */
  readonly others: readonly string[];
  /** When it began; 0: it has not yet. */
  readonly at: number;
  readonly tokens: number;
  readonly cost: number;
  /** Use beyond the reservation: it counts from the end of the request. */
  readonly extraTokens: number;
  readonly extraCost: number;
  /** When it ended; 0: it has not. */
  readonly ended: number;
  /** Whether the real use was reported. */
  readonly settled: boolean;
}

/** The use of a subject in its newest day and month, without the individually stored requests. */
export interface StoredSum {
  /** The name of the subject, see `formatSubject`. */
  readonly subject: string;
  /** Numbers of the day and of the month, see `Calendar`. */
  readonly day: number;
  readonly dayTokens: number;
  readonly dayCost: number;
  readonly month: number;
  readonly monthTokens: number;
  readonly monthCost: number;
}

/**
 * Durable storage of the counted use. Effects of a call may be visible outside once {@link UseStore.whenStored} has
 * resolved.
 */
export interface UseStore {
  loadUses(): Iterable<StoredUse>;
  /**
   * Stores a request, replacing its earlier row; `isNew`: there is none.
   * Does not throw: see {@link UseStore.whenStored}.
   */
  saveUse(use: StoredUse, isNew: boolean): void;
  /** Does not throw either. */
  removeUse(id: string): void;
  loadSums(): Iterable<StoredSum>;
  /** Replaces the requests that ended at or before `cutoff` by the sums that they were added to, all at once. */
  fold(cutoff: number, sums: readonly StoredSum[]): void;
  /**
   * Resolves when everything up to now is written; null: it is already. Rejects when the storage fails: the next write
   * tries again.
   */
  whenStored(): Promise<void> | null;
  /** Writes everything pending immediately. Throws when the storage fails: the next write tries again. */
  writeNow(): void;
}

/** A store that stores nothing. */
export const noopStore: UseStore = {
  loadUses: () => [],
  saveUse: () => undefined,
  removeUse: () => undefined,
  loadSums: () => [],
  fold: () => undefined,
  whenStored: () => null,
  writeNow: () => undefined,
};
