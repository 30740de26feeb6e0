import * as z from "zod";
import type { AccountState } from "./account-state.ts";
import { type StoredHealth, storedHealthSchema } from "./health.ts";
import type { PoolStore } from "./pool-store.ts";

/** Maximum number of accounts in one chunk: its row then has some hundred kilobytes. */
const ACCOUNTS_IN_A_PART = 500;

const partSchema = z.record(z.string(), storedHealthSchema);

/** The pool's accounts. */
export interface KnownAccounts extends Iterable<AccountState> {
  get(id: string): AccountState | undefined;
  /** Adds an unknown account, not yet configured. */
  make(id: string): AccountState;
}

/** One stored row: the health of the accounts that had changed at one save. */
interface Part {
  readonly ids: readonly string[];
  /** Number of its entries that no newer chunk replaces. */
  current: number;
  /** Number of those entries whose account is configured; recounted at each save. */
  found: number;
}

/**
 * Stores the accounts' health, so that a restart keeps it. It saves seldom and only changes: losing the last seconds before
 * a restart is cheaper than a write for each request.
 *
 * Each save appends a chunk with the changed accounts; the newest entry of an account counts. A chunk is deleted when none
 * of its entries counts. When more entries are outdated than current, the current entries of the oldest chunks are
 * rewritten with the next save. So the store holds at most twice the known entries, and on average each entry is written at
 * most twice.
 */
export class HealthKeeper {
  readonly #store: PoolStore;
  readonly #accounts: KnownAccounts;
  /** Chunks by their number, the oldest first. */
  readonly #parts = new Map<number, Part>();
  #newest = 0;

  constructor(store: PoolStore, accounts: KnownAccounts) {
    this.#store = store;
    this.#accounts = accounts;
    for (const [number, text] of store.loadHealth()) {
      const states = Object.entries(parsed(text)).map(([id, health]) => {
        const state = accounts.make(id);
        state.health.load(health);
        return state;
      });
      this.#add(number, states);
    }
  }

  /** Saves the health of the configured accounts that have changed. */
  save(): void {
    const due: AccountState[] = [];
    let known = 0;
    for (const part of this.#parts.values()) part.found = 0;
    for (const state of this.#accounts) {
      const { account, health } = state;
      if (account === null) continue;
      const part = this.#parts.get(health.storedIn);
      if (part !== undefined) part.found += 1;
      if (health.changed) due.push(state);
      if (health.changed || part !== undefined) known += 1;
    }
    if (due.length === 0) return;
    const over = this.#cleared(known, due);
    const saved = due.flatMap((state): [AccountState, StoredHealth][] => {
      const stored = state.health.save();
      return stored === null ? [] : [[state, stored]];
    });
    for (let at = 0; at < saved.length; at += ACCOUNTS_IN_A_PART) {
      const some = saved.slice(at, at + ACCOUNTS_IN_A_PART);
      const texts = some.map(([{ id }, health]): [string, StoredHealth] => [id, health]);
      this.#store.saveHealth(this.#newest + 1, JSON.stringify(Object.fromEntries(texts)));
      this.#add(
        this.#newest + 1,
        some.map(([state]) => state),
      );
    }
    // Only after their current entries are written elsewhere.
    for (const number of over) this.#drop(number);
    for (const [number, { current }] of this.#parts) if (current === 0) this.#drop(number);
  }

  /**
   * Selects the chunks to delete and adds their current entries to `due`. These are chunks with an account that is not
   * configured any more, and the oldest chunks while too many entries are outdated. Returns their numbers.
   */
  #cleared(known: number, due: AccountState[]): number[] {
    let entries = due.length;
    for (const { ids } of this.#parts.values()) entries += ids.length;
    const over: number[] = [];
    const someLeft = [...this.#parts.values()].some(({ found, current }) => found !== current);
    for (const [number, part] of this.#parts) {
      if (!(someLeft && part.ids.some((id) => !this.#isConfigured(id))) && entries <= 2 * known) continue;
      over.push(number);
      entries -= part.ids.length;
      for (const id of part.ids) {
        const state = this.#accounts.get(id);
        if (state?.health.storedIn !== number) continue;
        if (state.account !== null && !state.health.changed) {
          due.push(state);
          entries += 1;
        }
      }
    }
    return over;
  }

  #isConfigured(id: string): boolean {
    return (this.#accounts.get(id)?.account ?? null) !== null;
  }

  #add(number: number, states: readonly AccountState[]): void {
    for (const { health } of states) {
      const before = this.#parts.get(health.storedIn);
      if (before !== undefined) before.current -= 1;
      health.storedIn = number;
    }
    const { length } = states;
    this.#parts.set(number, { ids: states.map(({ id }) => id), current: length, found: 0 });
    this.#newest = Math.max(this.#newest, number);
  }

  #drop(number: number): void {
    for (const id of this.#parts.get(number)?.ids ?? []) {
      const health = this.#accounts.get(id)?.health;
      // The entry was of an account that is not configured. If it is configured again, its health must be saved again.
      if (health?.storedIn === number) health.changed = true;
    }
    this.#parts.delete(number);
    this.#store.removeHealth(number);
  }
}

/** Parses a chunk. Returns no entries when another version wrote a different format. */
function parsed(part: string): Readonly<Record<string, StoredHealth>> {
  return partSchema.safeParse(JSON.parse(part)).data ?? {};
}
