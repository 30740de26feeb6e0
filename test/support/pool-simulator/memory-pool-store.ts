import type { LeaseTerms, PoolStore, Starts, StoredAccount } from "../../../src/pool/storage/pool-store.ts";

/** A {@link PoolStore} in memory that counts writes. */
export class MemoryPoolStore implements PoolStore {
  readonly marks = new Map<string, number>();
  readonly reclaimed = new Map<string, number>();
  readonly accounts = new Map<string, StoredAccount>();
  readonly isolates = new Set<string>();
  starts: Starts = { last: 0, oldestLive: 0 };
  terms: LeaseTerms | null = null;
  readonly health = new Map<number, string>();
  /** Number of writes so far. */
  writes = 0;
  /** Number of health writes, which `writes` does not include. */
  healthWrites = 0;

  loadHighWaterMarks(): Iterable<readonly [string, number]> {
    return [...this.marks];
  }

  setHighWaterMark(id: string, slots: number): void {
    this.writes += 1;
    if (slots === 0) this.marks.delete(id);
    else this.marks.set(id, slots);
  }

  clearHighWaterMarks(): void {
    this.writes += 1;
    this.marks.clear();
  }

  flush(): void {}

  loadStarts(): Starts {
    return this.starts;
  }

  saveStarts(starts: Starts): void {
    this.writes += 1;
    this.starts = starts;
  }

  loadTerms(): LeaseTerms | null {
    return this.terms;
  }

  saveTerms(terms: LeaseTerms): void {
    this.writes += 1;
    this.terms = terms;
  }

  loadIsolates(): Iterable<string> {
    return [...this.isolates];
  }

  addIsolate(isolate: string): void {
    this.writes += 1;
    this.isolates.add(isolate);
  }

  removeIsolate(isolate: string): void {
    this.writes += 1;
    this.isolates.delete(isolate);
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

  loadHealth(): Iterable<readonly [number, string]> {
    return [...this.health].sort(([one], [other]) => one - other);
  }

  saveHealth(number: number, text: string): void {
    this.healthWrites += 1;
    this.health.set(number, text);
  }

  removeHealth(number: number): void {
    this.health.delete(number);
  }
}
