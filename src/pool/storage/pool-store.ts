import type { Cooldown } from "../health/circuit-breaker.ts";

/** The stored state of an account beyond its configuration. Times are Unix milliseconds. */
export interface StoredAccount {
  readonly id: string;
  /** Current token, empty when there is none. */
  readonly token: string;
  /** When the token expires; 0: unknown. */
  readonly expiresAt: number;
  /** When the token was obtained. */
  readonly issuedAt: number;
  /**
   * The configured token (with its provider) at that time:
   * if the configuration changes it, the stored token is discarded.
   */
  readonly configuredToken: string;
  /** The refresh token that has replaced the configured one; empty: none has. */
  readonly refreshToken: string;
  readonly testStatus: string;
  /** The account has worked since its last failure. */
  readonly proven: boolean;
  readonly cooldown: Cooldown | null;
}

/** How long slots are held back after a restart for leases that were granted before it, milliseconds. */
export interface ClaimPeriods {
  /** For leases that were just granted. */
  readonly claimMs: number;
  /** For an isolate that holds long-lived leases and is silent. */
  readonly awaitMs: number;
}

/** Terms that apply to all leases that may still be alive. */
export interface LeaseTerms extends ClaimPeriods {
  /** Name of the process in which all holders run or ran; empty: they may run anywhere. */
  readonly boot: string;
}

/** The terms of the leases that a pool grants. */
export interface GrantTerms extends LeaseTerms {
  /** See `PoolOptions.holdersShareProcess`. */
  readonly holdersShareProcess?: boolean;
}

export interface Starts {
  readonly last: number;
  readonly oldestLive: number;
}

/**
 * The pool's durable storage. All calls are synchronous and take effect before the grant that caused them is visible
 * outside (a Durable Object's output gate delays the answer until the write is safe). Writes do not throw: a failed write
 * is retried with the next one. `flush` reports whether everything is written.
 */
export interface PoolStore {
  /** High-water mark of each account: the largest number of slots that may be occupied. */
  loadHighWaterMarks(): Iterable<readonly [id: string, slots: number]>;
  setHighWaterMark(id: string, slots: number): void;
  clearHighWaterMarks(): void;
  /** Retries failed writes. Throws when the storage fails again. */
  flush(): void;
  /** Numbers of the pool's starts: the last one, and the oldest that may still have live leases; zeros at first. */
  loadStarts(): Starts;
  saveStarts(starts: Starts): void;
  /** Terms under which leases were granted; null when none are stored. */
  loadTerms(): LeaseTerms | null;
  saveTerms(terms: LeaseTerms): void;
  /** Names of the isolates that hold long-lived leases. */
  loadIsolates(): Iterable<string>;
  addIsolate(isolate: string): void;
  removeIsolate(isolate: string): void;
  /** Tokens of reclaimed leases, with the time. */
  loadReclaimed(): Iterable<readonly [token: string, at: number]>;
  addReclaimed(token: string, at: number): void;
  dropReclaimed(before: number): void;
  loadAccounts(): Iterable<StoredAccount>;
  saveAccount(account: StoredAccount): void;
  removeAccount(id: string): void;
  /** Health chunks as texts with their numbers, lowest number first. */
  loadHealth(): Iterable<readonly [number: number, text: string]>;
  saveHealth(number: number, text: string): void;
  removeHealth(number: number): void;
}
