import type { UseLedger } from "../limits/ledger.ts";
import type { CountAnswer, Refused } from "../platform/accounts.ts";
import type { KeyUse, LimitedUse, Spent } from "../platform/limits.ts";
import type { Upkeep } from "./upkeep.ts";

/**
 * Requests of keys with limits, as they are counted here: what the ledger says of them, also of those that take no slot of this pool.
 * Those that take one begin and end with it; of those whose slot is another pool's that one's isolates say when they do.
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

  /** Resolves when all that is counted is written; null: it is. Rejects when the storage fails: the next write tries again. */
  keeping(): Promise<void> | null {
    return this.#ledger.keeping();
  }

  /** Writes at once what is counted. Throws when the storage fails: the next write tries again. */
  writeNow(): void {
    this.#ledger.writeNow();
  }

  /** Reserves what a request is expected to use, or says why not. */
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
   * Lets a request of a key with limits in that gets its slot from another pool, or says why not. Unless it is heard of again
   * ({@link holding}) it has ended.
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

  /** It has got its slot, and begins. One that has ended meanwhile, since nothing was heard of it, is let in anew, or not. */
  begun(use: LimitedUse): CountAnswer {
    const now = this.#now();
    const limited = this.refusal(use);
    if (limited !== null) return limited;
    this.#upkeep.planSweep();
    this.#ledger.beginAway(use.id, now);
    return { limits: this.#ledger.state(use, now) };
  }

  /** It is still under way. */
  holding(use: string): void {
    this.#ledger.away(use, this.#now());
  }

  /**
   * It has got no slot.
   *
   * @param isNew nor had it one before: nothing of it counts, even if it was said to begin
   */
  unserved(use: string, isNew = false): void {
    if (isNew) this.#ledger.undo(use);
    else this.#ledger.giveBack(use, this.#now());
  }
}
