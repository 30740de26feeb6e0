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
  readonly cooldown: Cooldown | null;
}

export interface Starts {
  readonly last: number;
  readonly oldestLive: number;
}

/**
 * The pool's durable storage. All calls are synchronous and take effect before the grant that caused them is seen
 * outside (a Durable Object's output gate holds the answer back until the write is safe).
 */
export interface PoolStore {
  /** Per account, how many slots may be held at most: the high-water mark. */
  loadMarks(): Iterable<readonly [id: string, slots: number]>;
  setMark(id: string, slots: number): void;
  clearMarks(): void;
  /** Numbers of the pool's starts: the last one, and the oldest that may still have live leases; zeros at first. */
  loadStarts(): Starts;
  saveStarts(starts: Starts): void;
  /** Tokens of leases that were reclaimed, with the time. */
  loadReclaimed(): Iterable<readonly [token: string, at: number]>;
  addReclaimed(token: string, at: number): void;
  dropReclaimed(before: number): void;
  loadAccounts(): Iterable<StoredAccount>;
  saveAccount(account: StoredAccount): void;
  removeAccount(id: string): void;
}

/** A {@link PoolStore} in memory: for tests, and where pool and lease holders live and die in one process. */
export class MemoryPoolStore implements PoolStore {
  readonly marks = new Map<string, number>();
  readonly reclaimed = new Map<string, number>();
  readonly accounts = new Map<string, StoredAccount>();
  starts: Starts = { last: 0, oldestLive: 0 };
  /** Number of writes so far. */
  writes = 0;

  loadMarks(): Iterable<readonly [string, number]> {
    return [...this.marks];
  }

  setMark(id: string, slots: number): void {
    this.writes += 1;
    if (slots === 0) this.marks.delete(id);
    else this.marks.set(id, slots);
  }

  clearMarks(): void {
    this.writes += 1;
    this.marks.clear();
  }

  loadStarts(): Starts {
    return this.starts;
  }

  saveStarts(starts: Starts): void {
    this.writes += 1;
    this.starts = starts;
  }

  loadReclaimed(): Iterable<readonly [string, number]> {
    return [...this.reclaimed];
  }

  addReclaimed(token: string, at: number): void {
    this.writes += 1;
    this.reclaimed.set(token, at);
  }

  dropReclaimed(before: number): void {
    this.writes += 1;
    for (const [token, at] of this.reclaimed) if (at < before) this.reclaimed.delete(token);
  }

  loadAccounts(): Iterable<StoredAccount> {
    return [...this.accounts.values()];
  }

  saveAccount(account: StoredAccount): void {
    this.writes += 1;
    this.accounts.set(account.id, account);
  }

  removeAccount(id: string): void {
    this.writes += 1;
    this.accounts.delete(id);
  }
}
