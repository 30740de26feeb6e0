import * as z from "zod";
import type { AccountState } from "./account-state.ts";
import { type StoredHealth, storedHealthSchema } from "./health.ts";
import type { PoolStore } from "./pool-store.ts";

/** Accounts whose health goes into one part at most: a row is some hundred kilobytes then. */
const ACCOUNTS_IN_A_PART = 500;

const partSchema = z.record(z.string(), storedHealthSchema);

/** The accounts as the pool knows them. */
export interface KnownAccounts extends Iterable<AccountState> {
  get(id: string): AccountState | undefined;
  /** Unknown ones are added, not yet configured. */
  make(id: string): AccountState;
}

/** A row: what was news of some accounts at one time. */
interface Part {
  readonly ids: readonly string[];
  /** Of how many of them nothing newer was written. */
  current: number;
  /** How many of these are configured: counted with each save. */
  found: number;
}

/**
 * Keeps how accounts have done, so that a restart does not forget it. Saved seldom, and only when there is news:
 * what the last seconds before a restart have brought is not worth a write with each request.
 *
 * What is written is the news, as one more part; what stands in several of them counts as in the last. A part goes when nothing in it
 * counts any more. When there is more that does not count than does, what counts of the oldest goes with the news: so all
 * that is stored is at most twice what is known, and on average nothing is written more than twice.
 */
export class HealthKeeper {
  readonly #store: PoolStore;
  readonly #accounts: KnownAccounts;
  /** By their numbers, the oldest first. */
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

  /** Saves the health of those configured accounts of which there is news. */
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
    // Once what they had is written elsewhere.
    for (const number of over) this.#drop(number);
    for (const [number, { current }] of this.#parts) if (current === 0) this.#drop(number);
  }

  /**
   * Adds what counts to `due` of parts that are to go: those that tell of accounts which are not configured any more, also where it does
   * not count, and the oldest while too little counts. Returns their numbers.
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
      // It was of an account that is not configured: should it be again, it is news.
      if (health?.storedIn === number) health.changed = true;
    }
    this.#parts.delete(number);
    this.#store.removeHealth(number);
  }
}

/** What another version has written otherwise is not known any more. */
function parsed(part: string): Readonly<Record<string, StoredHealth>> {
  return partSchema.safeParse(JSON.parse(part)).data ?? {};
}
