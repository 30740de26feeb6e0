/** One request of a key with limits, as it is kept until it no longer counts towards a minute. Times are Unix milliseconds. */
export interface StoredUse {
  readonly id: string;
  readonly key: string;
  /** When it began; 0: it has not yet. */
  readonly at: number;
  readonly tokens: number;
  readonly cost: number;
  /** What it used beyond what had been reserved: that counts from when it ended. */
  readonly extraTokens: number;
  readonly extraCost: number;
  /** When it ended; 0: it has not. */
  readonly ended: number;
  /** Whether it has been told what it really used. */
  readonly settled: boolean;
}

/** What a key used in its newest day and month, without the requests that are kept one by one. */
export interface StoredSum {
  readonly key: string;
  /** Numbers of the day and of the month, see `Calendar`. */
  readonly day: number;
  readonly dayTokens: number;
  readonly dayCost: number;
  readonly month: number;
  readonly monthTokens: number;
  readonly monthCost: number;
}

/** The durable storage of what is counted. What follows from a call may be seen outside once {@link UseStore.kept} has come. */
export interface UseStore {
  loadUses(): Iterable<StoredUse>;
  /** Keeps a request, instead of what was kept of it before; `isNew`: nothing was. Does not throw: see {@link UseStore.kept}. */
  saveUse(use: StoredUse, isNew: boolean): void;
  /** Does not throw either. */
  removeUse(id: string): void;
  loadSums(): Iterable<StoredSum>;
  /** Replaces the requests that ended at `horizon` or before it by the sums that they have been added to, all at once. */
  fold(horizon: number, sums: readonly StoredSum[]): void;
  /** Resolves when everything up to now is written; null: it is. Rejects when the storage fails: the next write tries again. */
  kept(): Promise<void> | null;
  /** Writes at once what waits to be written. Throws when the storage fails: the next write tries again. */
  writeNow(): void;
}

/** Keeps nothing. */
export const NOWHERE: UseStore = {
  loadUses: () => [],
  saveUse: () => undefined,
  removeUse: () => undefined,
  loadSums: () => [],
  fold: () => undefined,
  kept: () => null,
  writeNow: () => undefined,
};
