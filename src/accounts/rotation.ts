import type { AccountState } from "./account-state.ts";
import { Heap } from "./heap.ts";
import { LinkedList } from "./linked-list.ts";

/**
 * Whose turn it is. Healthy accounts with a free slot stand in a ring: a grant sends an account to its end, and an
 * account that was full comes back at its end. Choosing takes constant time, whatever the number of accounts. Cooling
 * accounts are passed over while there is a healthy one, even a busy one; when all are cooling, the one that has the
 * least left is used, so that an outage yields the provider's own error rather than an endless 429.
 */
export class Rotation {
  /** Slots of each account. */
  perAccount = 1;
  /** Configured accounts that are not cooling down. */
  healthy = 0;
  readonly #ready = new LinkedList<AccountState>();
  readonly #coolingFree = new Heap<AccountState>();
  readonly #cooling = new Heap<AccountState>();

  /** Whether the account is configured and has a free slot. */
  hasSlot(state: AccountState): boolean {
    return state.account !== null && state.held < this.perAccount;
  }

  /** Puts the account where its slots and its cooldown place it. To be called after each change of either. */
  place(state: AccountState): void {
    const configured = state.account !== null;
    const free = this.hasSlot(state);
    const healthy = configured && !state.passedOver;
    if (healthy !== state.healthy) {
      state.healthy = healthy;
      this.healthy += healthy ? 1 : -1;
    }
    if (free && healthy) {
      if (state.list !== this.#ready) this.#ready.push(state);
    } else {
      this.#ready.remove(state);
    }
    const until = state.passedOverUntil;
    if (configured && state.passedOver) this.#cooling.set(state, until);
    else this.#cooling.delete(state);
    if (free && state.passedOver) this.#coolingFree.set(state, until);
    else this.#coolingFree.delete(state);
  }

  /** Sends an account that was just used to the end of the ring, or out of it when it is full. */
  used(state: AccountState): void {
    this.#ready.remove(state);
    this.place(state);
  }

  /** The account whose turn it is, or null. With `exclude`, only a healthy account that is not named there. */
  pick(exclude: ReadonlySet<string> | null): AccountState | null {
    if (this.healthy === 0) return exclude === null ? (this.#coolingFree.first ?? null) : null;
    let state = this.#ready.head;
    while (state !== null && exclude?.has(state.id) === true) state = state.next;
    return state;
  }

  /** When the first cooldown ends, Unix milliseconds; `Infinity` when none runs. */
  get nextThaw(): number {
    return this.#cooling.firstKey;
  }

  /** Ends the cooldowns that are over. True when one was. */
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
    return thawed;
  }
}
