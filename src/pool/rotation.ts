import type { AccountState } from "./account-state.ts";
import { Heap } from "./heap.ts";
import { LinkedList } from "./linked-list.ts";

/**
 * Whose turn it is among the accounts of one provider. Healthy accounts with a free slot stand in a ring: a grant sends an account to its end, and an
 * account that was full comes back at its end. Choosing takes constant time, whatever the number of accounts. Cooling
 * accounts are passed over while there is a healthy one, even a busy one; when all are cooling, the one that has the
 * least left is used, so that an outage yields the provider's own error rather than an endless 429. An account that is on
 * trial ({@link Trust}) is held back while its allowance is used up, and used all the same when no other is healthy.
 */
export class Rotation {
  /** Slots of each account. */
  perAccount = 1;
  /** The ids of accounts that may be chosen and are not cooling down. */
  readonly #healthy = new Set<string>();
  readonly #ready = new LinkedList<AccountState>();
  /** Healthy accounts with free slots whose trials are under way, by the time of the next trial. */
  readonly #heldBack = new Heap<AccountState>();
  readonly #coolingFree = new Heap<AccountState>();
  readonly #cooling = new Heap<AccountState>();

  /** Whether the account is configured and has a free slot. */
  hasSlot(state: AccountState): boolean {
    return state.isOwn && state.held + state.elsewhere < this.perAccount;
  }

  /** Puts the account where its slots and its cooldown place it. To be called after each change of either. */
  place(state: AccountState): void {
    const { enabled } = state;
    const free = enabled && this.hasSlot(state);
    const healthy = enabled && !state.passedOver;
    if (healthy !== state.healthy) {
      state.healthy = healthy;
      if (healthy) this.#healthy.add(state.id);
      else this.#healthy.delete(state.id);
    }
    const onTrial = free && healthy && !state.trust.open;
    if (onTrial) this.#heldBack.set(state, state.trust.nextTrial);
    else this.#heldBack.delete(state);
    if (free && healthy && !onTrial) {
      // One whose turn is not over has but been full in the middle of it.
      if (state.list !== this.#ready) {
        if (state.turn > 0) this.#ready.unshift(state);
        else this.#ready.push(state);
      }
    } else {
      this.#ready.remove(state);
    }
    const until = state.passedOverUntil;
    if (state.account !== null && state.passedOver) this.#cooling.set(state, until);
    else this.#cooling.delete(state);
    if (free && state.passedOver) this.#coolingFree.set(state, until);
    else this.#coolingFree.delete(state);
  }

  /**
   * Sends an account that was just used to the end of the ring when its turn is over (it has got as many requests as its weight
   * says), or out of it when it is full.
   */
  used(state: AccountState): void {
    state.turn += 1;
    if (state.turn >= (state.account?.weight ?? 1)) {
      this.#ready.remove(state);
      state.turn = 0;
    }
    this.place(state);
  }

  /**
   * The account whose turn it is, or null. With `exclude`, only a healthy account that is not named there; with `wellOnly`, none that
   * is held back either.
   */
  pick(exclude: ReadonlySet<string> | null, wellOnly = false): AccountState | null {
    if (this.#healthy.size === 0)
      return exclude === null && !wellOnly ? (this.#coolingFree.first ?? null) : null;
    let state = this.#ready.head;
    while (state !== null && exclude?.has(state.id) === true) state = state.next;
    if (state !== null || wellOnly || this.healthyBut(exclude ?? []) > 1) return state;
    // No more accounts are held back here than are excluded, and one.
    for (const only of this.#heldBack) if (exclude?.has(only.id) !== true) return only;
    return null;
  }

  /** How many accounts may be chosen and are not cooling down, busy or not, without those named. `exclude`: ids, each once. */
  healthyBut(exclude: Iterable<string>): number {
    let others = this.#healthy.size;
    for (const id of exclude) if (this.#healthy.has(id)) others -= 1;
    return others;
  }

  /** Whether a healthy account is not held back. */
  get isWell(): boolean {
    return this.#healthy.size > this.#heldBack.size;
  }

  /** Whether a healthy account is held back that has free slots: one who excludes all others may have it. */
  get holdsBack(): boolean {
    return this.#heldBack.size > 0;
  }

  /** When the first cooldown ends, or another trial begins, Unix milliseconds; `Infinity` when there is none of either. */
  get nextThaw(): number {
    return Math.min(this.#cooling.firstKey, this.#heldBack.firstKey);
  }

  /** Ends the cooldowns that are over, and lets another request try what has been tried for long. True when there was one. */
  thaw(now: number): boolean {
    let thawed = false;
    for (let state = this.#cooling.first; state !== undefined; state = this.#cooling.first) {
      if (this.#cooling.firstKey > now) break;
      // Both: an account is passed over for as long as the longer of them lasts.
      state.cooling = false;
      if (state.proxy !== null && (state.proxy.cooldown?.until ?? 0) <= now) state.proxy.cooling = false;
      this.place(state);
      thawed = true;
    }
    for (let state = this.#heldBack.first; state !== undefined; state = this.#heldBack.first) {
      if (this.#heldBack.firstKey > now) break;
      state.trust.allowAnother(now);
      this.place(state);
      thawed = true;
    }
    return thawed;
  }
}
