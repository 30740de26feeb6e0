import { AccountState } from "./accounts/account-state.ts";
import type { ProviderPool, ProviderPools } from "./queue/provider-pool.ts";

/** The accounts that the pool knows: configured ones, and removed ones that still occupy slots or have a high-water mark. */
export class AccountTable {
  /** Identifiers of the configured accounts, keyed by all their names in lower case. */
  idsByName: ReadonlyMap<string, string> = new Map();
  /** Number of configured accounts that this pool owns. */
  total = 0;
  readonly #providerPools: ProviderPools;
  readonly #byId = new Map<string, AccountState>();

  constructor(providerPools: ProviderPools) {
    this.#providerPools = providerPools;
  }

  /** The account with this identifier; undefined for an unknown one. */
  get(id: string): AccountState | undefined {
    return this.#byId.get(id);
  }

  /** Like {@link get}, but adds unknown accounts (not yet configured). */
  getOrCreate(id: string): AccountState {
    let state = this.#byId.get(id);
    if (state === undefined) {
      state = new AccountState(id);
      this.#byId.set(id, state);
    }
    return state;
  }

  /** The account that a request names. Identifiers may differ only in case; then an exact match wins. */
  findByName(name: string): AccountState | null {
    const exact = this.#byId.get(name);
    if (exact !== undefined && exact.account !== null) return exact;
    return this.#byId.get(this.idsByName.get(name.toLowerCase()) ?? "") ?? null;
  }

  /** Recounts the configured accounts, in total and by provider. */
  recount(): void {
    this.total = 0;
    const enabled = new Map<ProviderPool, Map<string, AccountState>>();
    for (const providerPool of this.#providerPools.all) {
      providerPool.configuredAccounts = 0;
      providerPool.enabledAccounts = 0;
    }
    for (const state of this.#byId.values()) {
      if (!state.isOwnedHere) continue;
      if (state.isListed) this.total += 1;
      const providerPool = this.#providerPools.of(state);
      providerPool.configuredAccounts += 1;
      if (!state.isEnabled) continue;
      providerPool.enabledAccounts += 1;
      const accounts = enabled.get(providerPool) ?? new Map<string, AccountState>();
      enabled.set(providerPool, accounts.set(state.id, state));
    }
    for (const providerPool of this.#providerPools.all)
      providerPool.conversations.accounts = enabled.get(providerPool) ?? new Map();
  }

  /** Deletes a removed account once it has no occupied slots and no high-water mark. */
  deleteIfUnused(state: AccountState): void {
    if (state.account === null && state.occupiedSlots === 0 && state.highWaterMark === 0)
      this.#byId.delete(state.id);
  }

  [Symbol.iterator](): IterableIterator<AccountState> {
    return this.#byId.values();
  }
}
