import type { AccountState } from "../accounts/account-state.ts";
import { Heap } from "../structures/heap.ts";
import { LinkedList } from "../structures/linked-list.ts";

/** Selects one of the accounts that may get the request; they come in the order of their turns. */
export type PickAccount = (accounts: Iterable<AccountState>) => AccountState | null;

/** Selects the account whose turn it is. */
export const pickNext: PickAccount = (accounts) => {
  for (const state of accounts) return state;
  return null;
};

/**
 * The available accounts of one provider, in the order of their turns (round robin). Healthy accounts with a free slot stand
 * in a ring. A grant moves an account to the end, and an account that was full returns at the end. Selection by turns takes
 * constant time, whatever the number of accounts.
 *
 * Accounts that cool down are skipped while there is a healthy one, even a busy one. When all accounts cool down, the one
 * with the shortest remaining time is used, so that an outage returns the provider's own error and not an endless 429. A
 * half-open account ({@link CircuitBreaker}) is skipped while its budget is exhausted, and used all the same when no other
 * account is healthy.
 */
export class Rotation {
  /** Slots of each account; `Infinity`: no limit. */
  perAccount = 1;
  /** Ids of enabled accounts that are not cooling down. */
  readonly #healthy = new Set<string>();
  readonly #ready = new LinkedList<AccountState>();
  /** Healthy accounts with free slots and an exhausted half-open budget, by the time of their next probe. */
  readonly #budgetExhausted = new Heap<AccountState>();
  readonly #coolingFree = new Heap<AccountState>();
  readonly #cooling = new Heap<AccountState>();

  /** Whether the account is owned here and has a free slot. */
  hasFreeSlot(state: AccountState): boolean {
    return state.isOwnedHere && state.occupiedSlots + state.slotsElsewhere < this.perAccount;
  }

  /** Whether the account is healthy, with a free slot and half-open budget. */
  isReady(state: AccountState): boolean {
    return state.list === this.#ready;
  }

  /**
   * Moves the account to the position that its slots and its cooldown require.
   * Must be called after each change of either.
   */
  updatePosition(state: AccountState): void {
    const { isEnabled } = state;
    const isFree = isEnabled && this.hasFreeSlot(state);
    const isHealthy = isEnabled && !state.isCoolingDown;
    if (isHealthy !== state.isHealthy) {
      state.isHealthy = isHealthy;
      if (isHealthy) this.#healthy.add(state.id);
      else this.#healthy.delete(state.id);
    }
    const isBudgetExhausted = isFree && isHealthy && !state.breaker.hasAllowance;
    if (isBudgetExhausted) this.#budgetExhausted.set(state, state.breaker.nextProbeAt);
    else this.#budgetExhausted.delete(state);
    if (isFree && isHealthy && !isBudgetExhausted) {
      // An account whose turn is not over was only full for a moment: it continues its turn.
      if (state.list !== this.#ready) {
        if (state.turn > 0) this.#ready.unshift(state);
        else this.#ready.push(state);
      }
    } else {
      this.#ready.remove(state);
    }
    const until = state.coolingDownUntil;
    if (state.account !== null && state.isCoolingDown) this.#cooling.set(state, until);
    else this.#cooling.delete(state);
    if (isFree && state.isCoolingDown) this.#coolingFree.set(state, until);
    else this.#coolingFree.delete(state);
  }

  /**
   * Counts a grant of an account. When its turn is over (as many requests as its weight), the account moves to the end of
   * the ring. When it is full, it leaves the ring.
   */
  advance(state: AccountState): void {
    state.turn += 1;
    if (state.turn >= (state.account?.weight ?? 1)) {
      this.#ready.remove(state);
      state.turn = 0;
    }
    this.updatePosition(state);
  }

  /**
   * Returns an available account, or null. With `exclude`: only a healthy account that is not excluded. With
   * `healthyOnly`: also none with an exhausted half-open budget.
   *
   * @param pick selects among the accounts that are ready; by default by turns
   */
  pickAccount(
    exclude: ReadonlySet<string> | null,
    healthyOnly = false,
    pick: PickAccount = pickNext,
  ): AccountState | null {
    if (this.#healthy.size === 0)
      return exclude === null && !healthyOnly ? (this.#coolingFree.first ?? null) : null;
    const state = pick(exclude === null ? this.#ready : withoutExcluded(this.#ready, exclude));
    if (state !== null || healthyOnly || this.countHealthyExcept(exclude ?? []) > 1) return state;
    // At most one account with an exhausted budget remains besides the excluded ones.
    for (const candidate of this.#budgetExhausted) if (exclude?.has(candidate.id) !== true) return candidate;
    return null;
  }

  /**
   * Number of enabled accounts that are not cooling down, busy or not, without the excluded ones. `exclude`: ids, each
   * once.
   */
  countHealthyExcept(exclude: Iterable<string>): number {
    let count = this.#healthy.size;
    for (const id of exclude) if (this.#healthy.has(id)) count -= 1;
    return count;
  }

  /** Whether a healthy account has half-open budget left. */
  get hasAvailableHealthy(): boolean {
    return this.#healthy.size > this.#budgetExhausted.size;
  }

  /**
   * Whether a healthy account with free slots has an exhausted half-open budget: a request that excludes all others may use
   * it.
   */
  get hasBudgetExhausted(): boolean {
    return this.#budgetExhausted.size > 0;
  }

  /** When the first cooldown ends or another probe is allowed, Unix milliseconds; `Infinity` if neither will happen. */
  get nextCooldownEnd(): number {
    return Math.min(this.#cooling.firstKey, this.#budgetExhausted.firstKey);
  }

  /**
   * Ends expired cooldowns, and allows another probe where a probe has had no result for long. Returns true when anything
   * changed.
   */
  endExpiredCooldowns(now: number): boolean {
    let hasChanged = false;
    for (let state = this.#cooling.first; state !== undefined; state = this.#cooling.first) {
      if (this.#cooling.firstKey > now) break;
      // Both the account's and the proxy's cooldown: the heap is keyed by the later end.
      state.breaker.endCooldown();
      state.isOutOfQuota = false;
      if (state.proxy !== null && state.proxy.breaker.openUntil <= now) state.proxy.breaker.endCooldown();
      this.updatePosition(state);
      hasChanged = true;
    }
    for (let state = this.#budgetExhausted.first; state !== undefined; state = this.#budgetExhausted.first) {
      if (this.#budgetExhausted.firstKey > now) break;
      state.breaker.allowAnotherProbe(now);
      this.updatePosition(state);
      hasChanged = true;
    }
    return hasChanged;
  }
}

function* withoutExcluded(
  accounts: Iterable<AccountState>,
  exclude: ReadonlySet<string>,
): Generator<AccountState> {
  for (const state of accounts) if (!exclude.has(state.id)) yield state;
}
