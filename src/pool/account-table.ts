import { AccountState } from "./account-state.ts";
import type { Lanes } from "./lane.ts";

/** The accounts that the pool knows of: those that are configured, and those of which something is left. */
export class AccountTable {
  /** Identifiers of the configured accounts by all their names. */
  names: ReadonlyMap<string, string> = new Map();
  /** Configured accounts. */
  total = 0;
  readonly #lanes: Lanes;
  readonly #byId = new Map<string, AccountState>();

  constructor(lanes: Lanes) {
    this.#lanes = lanes;
  }

  /** The account of that identifier; undefined for an unknown one. */
  get(id: string): AccountState | undefined {
    return this.#byId.get(id);
  }

  /** The same; unknown ones are added, not yet configured. */
  make(id: string): AccountState {
    let state = this.#byId.get(id);
    if (state === undefined) {
      state = new AccountState(id, this.#lanes.own);
      this.#byId.set(id, state);
    }
    return state;
  }

  /** The account that a request means. Identifiers may differ in their case alone: then the exact one is meant. */
  named(name: string): AccountState | null {
    const exact = this.#byId.get(name);
    if (exact !== undefined && exact.account !== null) return exact;
    return this.#byId.get(this.names.get(name.toLowerCase()) ?? "") ?? null;
  }

  /** Counts anew what is configured, in all and of each provider. */
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

  /** Drops an account that is no longer configured, once nothing of it is left. */
  forget(state: AccountState): void {
    if (state.account === null && state.held === 0 && state.mark === 0) this.#byId.delete(state.id);
  }

  [Symbol.iterator](): IterableIterator<AccountState> {
    return this.#byId.values();
  }
}
