import * as z from "zod";
import { type StoredHealth, storedHealthSchema } from "../health/health.ts";
import type { PoolStore } from "../storage/pool-store.ts";
import type { AccountState } from "./account-state.ts";

/** Maximum number of accounts in one chunk: its row then has some hundred kilobytes. */
const ACCOUNTS_PER_CHUNK = 500;

const chunkSchema = z.record(z.string(), storedHealthSchema);

/** The pool's accounts. */
export interface AccountLookup extends Iterable<AccountState> {
  get(id: string): AccountState | undefined;
  /** Adds an unknown account, not yet configured. */
  getOrCreate(id: string): AccountState;
}

/** One stored row: the health of the accounts that had changed at one save. */
interface HealthChunk {
  readonly ids: readonly string[];
  /** Number of its entries that no newer chunk replaces. */
  currentCount: number;
  /** Number of those entries whose account is configured; recounted at each save. */
  configuredCount: number;
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
export class HealthPersistence {
  readonly #store: PoolStore;
  readonly #accounts: AccountLookup;
  /** Chunks by their number, the oldest first. */
  readonly #chunks = new Map<number, HealthChunk>();
  #newest = 0;

  constructor(store: PoolStore, accounts: AccountLookup) {
    this.#store = store;
    this.#accounts = accounts;
    for (const [number, text] of store.loadHealth()) {
      const states = Object.entries(parseChunk(text)).map(([id, health]) => {
        const state = accounts.getOrCreate(id);
        state.health.load(health);
        return state;
      });
      this.#add(number, states);
    }
  }

  /** Saves the health of the configured accounts that have changed. */
  save(): void {
    const due: AccountState[] = [];
    let knownCount = 0;
    for (const chunk of this.#chunks.values()) chunk.configuredCount = 0;
    for (const state of this.#accounts) {
      const { account, health } = state;
      if (account === null) continue;
      const chunk = this.#chunks.get(health.chunkNumber);
      if (chunk !== undefined) chunk.configuredCount += 1;
      if (health.hasUnsavedChanges) due.push(state);
      if (health.hasUnsavedChanges || chunk !== undefined) knownCount += 1;
    }
    if (due.length === 0) return;
    const chunksToDrop = this.#selectChunksToDrop(knownCount, due);
    const saved = due.flatMap((state): [AccountState, StoredHealth][] => {
      const stored = state.health.save();
      return stored === null ? [] : [[state, stored]];
    });
    for (let at = 0; at < saved.length; at += ACCOUNTS_PER_CHUNK) {
      const batch = saved.slice(at, at + ACCOUNTS_PER_CHUNK);
      const entries = batch.map(([{ id }, health]): [string, StoredHealth] => [id, health]);
      this.#store.saveHealth(this.#newest + 1, JSON.stringify(Object.fromEntries(entries)));
      this.#add(
        this.#newest + 1,
        batch.map(([state]) => state),
      );
    }
    // Only after their current entries are written elsewhere.
    for (const number of chunksToDrop) this.#drop(number);
    for (const [number, { currentCount }] of this.#chunks) if (currentCount === 0) this.#drop(number);
  }

  /**
   * Selects the chunks to delete and adds their current entries to `due`. These are chunks with an account that is not
   * configured any more, and the oldest chunks while too many entries are outdated. Returns their numbers.
   */
  #selectChunksToDrop(knownCount: number, due: AccountState[]): number[] {
    let entries = due.length;
    for (const { ids } of this.#chunks.values()) entries += ids.length;
    const chunkNumbers: number[] = [];
    const hasUnconfigured = [...this.#chunks.values()].some(
      ({ configuredCount, currentCount }) => configuredCount !== currentCount,
    );
    for (const [number, chunk] of this.#chunks) {
      if (!(hasUnconfigured && chunk.ids.some((id) => !this.#isConfigured(id))) && entries <= 2 * knownCount)
        continue;
      chunkNumbers.push(number);
      entries -= chunk.ids.length;
      for (const id of chunk.ids) {
        const state = this.#accounts.get(id);
        if (state?.health.chunkNumber !== number) continue;
        if (state.account !== null && !state.health.hasUnsavedChanges) {
          due.push(state);
          entries += 1;
        }
      }
    }
    return chunkNumbers;
  }

  #isConfigured(id: string): boolean {
    return (this.#accounts.get(id)?.account ?? null) !== null;
  }

  #add(number: number, states: readonly AccountState[]): void {
    for (const { health } of states) {
      const previousChunk = this.#chunks.get(health.chunkNumber);
      if (previousChunk !== undefined) previousChunk.currentCount -= 1;
      health.chunkNumber = number;
    }
    const { length } = states;
    this.#chunks.set(number, { ids: states.map(({ id }) => id), currentCount: length, configuredCount: 0 });
    this.#newest = Math.max(this.#newest, number);
  }

  #drop(number: number): void {
    for (const id of this.#chunks.get(number)?.ids ?? []) {
      const health = this.#accounts.get(id)?.health;
      // The entry was of an account that is not configured. If it is configured again, its health must be saved again.
      if (health?.chunkNumber === number) health.hasUnsavedChanges = true;
    }
    this.#chunks.delete(number);
    this.#store.removeHealth(number);
  }
}

/** Parses a chunk. Returns no entries when another version wrote a different format. */
function parseChunk(text: string): Readonly<Record<string, StoredHealth>> {
  return chunkSchema.safeParse(JSON.parse(text)).data ?? {};
}
