import type { UseLedger } from "../limits/ledger.ts";
import type { CountAnswer, Refused } from "../platform/accounts.ts";
import type { KeyUse, LimitedUse, Spent } from "../platform/limits.ts";
import type { Upkeep } from "./upkeep.ts";

/**
 * Counts the requests of keys with limits in this pool's ledger, including requests that use no slot of this pool. A
 * request with a slot of this pool begins and ends with its lease. For a slot of another pool, the isolate reports begin
 * and end.
 */
export class LimitedUses {
  readonly #ledger: UseLedger;
  readonly #upkeep: Upkeep;
  readonly #now: () => number;

  constructor(ledger: UseLedger, upkeep: Upkeep, now: () => number) {
    this.#ledger = ledger;
    this.#upkeep = upkeep;
    this.#now = now;
  }

  /**
   * Resolves when everything counted is written; null: it is already. Rejects when the storage fails: the next write tries
   * again.
   */
  keeping(): Promise<void> | null {
    return this.#ledger.keeping();
  }

  /** Writes everything counted immediately. Throws when the storage fails: the next write tries again. */
  writeNow(): void {
    this.#ledger.writeNow();
  }

  /** Reserves the expected use of a request, or returns why its key does not allow it. */
  refusal(use: LimitedUse): Refused | null {
    const now = this.#now();
    const limit = this.#ledger.take(use, now);
    return limit === null ? null : { refused: "limited", limit, limits: this.#ledger.state(use, now) };
  }

  /** See `AccountPoolClient.count`. */
  count(use: LimitedUse): CountAnswer {
    const now = this.#now();
    const limited = this.refusal(use);
    if (limited !== null) return limited;
    this.#upkeep.planSweep();
    this.#ledger.begin(use.id, now);
    this.#ledger.settle(use.id, use, now);
    return { limits: this.#ledger.state(use, now) };
  }

  /** See `AccountPoolClient.settle`. */
  settle(use: string, spent: Spent): void {
    this.#ledger.settle(use, spent, this.#now());
  }

  /** See `AccountPoolClient.keyUses`. */
  ofKeys(): KeyUse[] {
    return this.#ledger.uses(this.#now());
  }

  /**
   * Reserves for a request that gets its slot from another pool, or refuses it. The request counts as ended unless {@link
   * keepAlive} is called in time.
   */
  hold(use: LimitedUse): CountAnswer {
    const now = this.#now();
    const limited = this.refusal(use);
    if (limited !== null) return limited;
    this.#upkeep.planSweep();
    this.#ledger.wait(use.id);
    this.#ledger.away(use.id, now);
    return { limits: this.#ledger.state(use, now) };
  }

  /** The request has its slot and begins. If it had been treated as ended meanwhile, it is admitted again or refused. */
  begun(use: LimitedUse): CountAnswer {
    const now = this.#now();
    const limited = this.refusal(use);
    if (limited !== null) return limited;
    this.#upkeep.planSweep();
    this.#ledger.beginAway(use.id, now);
    return { limits: this.#ledger.state(use, now) };
  }

  /** The request is still running. */
  holding(use: string): void {
    this.#ledger.away(use, this.#now());
  }

  /**
   * The request got no slot.
   *
   * @param isNew it never had a slot: nothing of it counts, even if its begin was reported
   */
  unserved(use: string, isNew = false): void {
    if (isNew) this.#ledger.undo(use);
    else this.#ledger.giveBack(use, this.#now());
  }
}
