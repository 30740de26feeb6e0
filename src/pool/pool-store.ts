import type { Cooldown } from "./cooldown.ts";

/** What is kept of an account beyond its configuration. Times are Unix milliseconds. */
export interface StoredAccount {
  readonly id: string;
  /** Current token, empty when there is none. */
  readonly token: string;
  /** When the token ends; 0 when not known. */
  readonly expiresAt: number;
  /** When the token was obtained. */
  readonly issuedAt: number;
  /** The configured token that was current then: a change of it in the configuration wins over the stored token. */
  readonly configuredToken: string;
  readonly testStatus: string;
  /** It has worked since it failed last. */
  readonly proven: boolean;
  readonly cooldown: Cooldown | null;
}

/** How long slots are held back after a restart for leases that were granted before it, milliseconds. */
export interface ClaimPeriods {
  /** For leases that were just granted. */
  readonly claimMs: number;
  /** For an isolate that holds leases for long and is not heard of. */
  readonly awaitMs: number;
}

/** What holds of all leases that may be alive. */
export interface LeaseTerms extends ClaimPeriods {
  /** Names the process that all holders live in, or lived in; empty: they may be anywhere. */
  readonly boot: string;
}

/** The terms of the leases that a pool grants. */
export interface OwnTerms extends LeaseTerms {
  /** See `PoolOptions.endsWithHolders`. */
  readonly endsWithHolders?: boolean;
}

/** What two pools have given each other of a limit, ever: units of `LimitPart`. */
export interface StoredPart {
  readonly limit: string;
  /** The other one's name. */
  readonly peer: string;
  readonly given: number;
  readonly got: number;
}

/** Where a pool keeps its parts of limits that it shares with others. */
export interface PartStore {
  loadParts(): Iterable<StoredPart>;
  /** Replaces what is known of that limit and that other pool. Throws when it is not written. */
  savePart(part: StoredPart): void;
}

export interface Starts {
  readonly last: number;
  readonly oldestLive: number;
}

/**
 * The pool's durable storage. All calls are synchronous and take effect before the grant that caused them is seen
 * outside (a Durable Object's output gate holds the answer back until the write is safe). A write of the pool's own does not throw: what
 * the storage refuses is tried again with the next write, and `flush` tells whether all is written.
 */
export interface PoolStore extends PartStore {
  /** Per account, how many slots may be held at most: the high-water mark. */
  loadMarks(): Iterable<readonly [id: string, slots: number]>;
  setMark(id: string, slots: number): void;
  clearMarks(): void;
  /** Writes what the storage has refused. Throws what the storage throws when it refuses that again. */
  flush(): void;
  /** Numbers of the pool's starts: the last one, and the oldest that may still have live leases; zeros at first. */
  loadStarts(): Starts;
  saveStarts(starts: Starts): void;
  /** On what terms leases were granted; null when it was never said. */
  loadTerms(): LeaseTerms | null;
  saveTerms(terms: LeaseTerms): void;
  /** Names of the isolates that hold leases for long. */
  loadIsolates(): Iterable<string>;
  addIsolate(isolate: string): void;
  removeIsolate(isolate: string): void;
  /** Tokens of leases that were reclaimed, with the time. */
  loadReclaimed(): Iterable<readonly [token: string, at: number]>;
  addReclaimed(token: string, at: number): void;
  dropReclaimed(before: number): void;
  loadAccounts(): Iterable<StoredAccount>;
  saveAccount(account: StoredAccount): void;
  removeAccount(id: string): void;
  /** How accounts have done, as texts, by their numbers, the lowest first. */
  loadHealth(): Iterable<readonly [number: number, text: string]>;
  saveHealth(number: number, text: string): void;
  removeHealth(number: number): void;
}
