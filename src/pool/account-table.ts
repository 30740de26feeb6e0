import { AccountState } from "./account-state.ts";
import type { Lanes } from "./lane.ts";

/** The accounts that the pool knows: configured ones, and removed ones that still occupy slots or have a high-water mark. */
export class AccountTable {
  /** Identifiers of the configured accounts, keyed by all their names in lower case. */
  names: ReadonlyMap<string, string> = new Map();
  /** Number of configured accounts that this pool owns. */
  total = 0;
  readonly #lanes: Lanes;
  readonly #byId = new Map<string, AccountState>();

  constructor(lanes: Lanes) {
    this.#lanes = lanes;
  }

  /** The account with this identifier; undefined for an unknown one. */
  get(id: string): AccountState | undefined {
    return this.#byId.get(id);
  }

  /** Like {@link get}, but adds unknown accounts (not yet configured). */
  make(id: string): AccountState {
    let state = this.#byId.get(id);
    if (state === undefined) {
      state = new AccountState(id, this.#lanes.own);
      this.#byId.set(id, state);
    }
    return state;
  }

  /** The account that a request names. Identifiers may differ only in case; then an exact match wins. */
  named(name: string): AccountState | null {
    const exact = this.#byId.get(name);
    if (exact !== undefined && exact.account !== null) return exact;
    return this.#byId.get(this.names.get(name.toLowerCase()) ?? "") ?? null;
  }

  /** Recounts the configured accounts, in total and by provider. */
  count(): void {
    this.total = 0;
    for (const lane of this.#lanes.all) {
      lane.total = 0;
      lane.enabled = 0;
    }
    for (const { isOwn, enabled, lane } of this.#byId.values()) {
      if (!isOwn) continue;
      this.total += 1;
      lane.total += 1;
      if (enabled) lane.enabled += 1;
    }
  }

  /** Deletes a removed account once it has no occupied slots and no high-water mark. */
  forget(state: AccountState): void {
    if (state.account === null && state.held === 0 && state.mark === 0) this.#byId.delete(state.id);
  }

  [Symbol.iterator](): IterableIterator<AccountState> {
    return this.#byId.values();
  }
}
