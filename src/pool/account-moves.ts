import type { AccountState } from "./accounts/account-state.ts";
import type { AccountTokens } from "./accounts/account-tokens.ts";
import type { Handover, OccupiedSlots } from "./shards/account-handover.ts";
import type { MigrationTarget } from "./shards/shard-migration.ts";
import type { Slots } from "./slots.ts";
import type { StoredAccount } from "./storage/pool-store.ts";

/**
 * Handles accounts that move between this pool and other shards: their slots that are still occupied here, and the other
 * shards' reports about accounts that this shard owns now.
 */
export class AccountMoves implements MigrationTarget {
  readonly #slots: Slots;
  readonly #tokens: AccountTokens;
  readonly #handover: Handover;
  readonly #now: () => number;

  constructor(slots: Slots, tokens: AccountTokens, handover: Handover, now: () => number) {
    this.#slots = slots;
    this.#tokens = tokens;
    this.#handover = handover;
    this.#now = now;
  }

  /** Number of the layout that the pool knows; 0: there is one pool. */
  get generation(): number {
    return this.#handover.generation;
  }

  /** Whether accounts may still be in use at their earlier shards. */
  get isMoving(): boolean {
    return this.#handover.isMoving;
  }

  /** The shards that may still occupy slots of accounts which this shard owns now. */
  get pendingShards(): string[] {
    return this.#handover.pendingShards;
  }

  /** The pending shards that have not answered yet. */
  get unansweredShards(): string[] {
    return this.#handover.unansweredShards;
  }

  /**
   * The slots still occupied here of accounts that `shard` owns now; with `includeStored` also the stored state of these
   * accounts.
   */
  occupiedSlotsFor(shard: string, includeStored = false): OccupiedSlots {
    this.#slots.processElapsedTime();
    const held: Record<string, number> = {};
    const known: StoredAccount[] = [];
    for (const { id, occupiedSlots: slots, stored } of this.#slots.accounts) {
      if (!this.#handover.isOwnedBy(shard, id)) continue;
      if (slots > 0) held[id] = slots;
      if (includeStored && stored !== null) known.push(stored);
    }
    return { generation: this.generation, held, ...(known.length === 0 ? {} : { known }) };
  }

  /** Records the answer of another shard: which slots it still occupies of accounts that this shard owns now. */
  recordOccupiedElsewhere(shard: string, answer: OccupiedSlots): void {
    if (!this.#handover.recordAnswer(shard, answer)) return;
    const { accounts } = this.#slots;
    for (const stored of answer.known ?? []) {
      const state = accounts.get(stored.id);
      // Only before the first grant here: afterwards this shard has newer state.
      if (state?.isOwnedHere === true && state.slotsElsewhere === Number.POSITIVE_INFINITY)
        this.#tokens.importState(state, stored, this.#now());
    }
    const changed: AccountState[] = [];
    for (const state of accounts) {
      if (!state.isOwnedHere) continue;
      const elsewhere = this.#handover.slotsElsewhere(state.id);
      if (elsewhere === state.slotsElsewhere) continue;
      state.slotsElsewhere = elsewhere;
      changed.push(state);
    }
    if (changed.length > 0) this.#slots.onHealthChanged(changed);
  }
}
