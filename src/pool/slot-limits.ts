import type { PoolLimits } from "../platform/pool-configuration.ts";
import type { Lane, Lanes } from "./lane.ts";
import type { PartedLimit, PartUse } from "./limit-part.ts";

/** How much one of several pools may use of the limits that it shares with the others; null: there is no such limit. */
export interface LimitParts {
  /** Slots in use. */
  readonly global: number | null;
  /** Waiting requests, for each provider separately. */
  readonly queue: number | null;
}

/**
 * Limits for slots in use and for waiting requests: the configured values, and the pool's shares of them where there are
 * several pools.
 */
export class SlotLimits {
  configured: PoolLimits = { perAccount: 1, global: 0, queue: 0, queueWaitMs: 60_000, tokenRefreshMs: 0 };
  /** Null: there is one pool. */
  parts: LimitParts | null = null;
  readonly #lanes: Lanes;

  constructor(lanes: Lanes) {
    this.#lanes = lanes;
  }

  /**
   * @param perAccount slots of each account, by provider, where they differ from `limits`
   */
  configure(limits: PoolLimits, perAccount: Readonly<Record<string, number>>): void {
    this.configured = limits;
    for (const lane of this.#lanes.all) {
      lane.rotation.perAccount = perAccount[lane.provider] ?? limits.perAccount;
    }
  }

  get global(): number {
    return this.configured.global || this.recommended;
  }

  /** How many slots may be in use in this pool. */
  get usable(): number {
    // Without a limit the accounts' slots are the limit. Accounts that have moved away count in their new pool.
    return this.parts === null ? this.global : (this.parts.global ?? Number.POSITIVE_INFINITY);
  }

  /** Slots of all accounts together. */
  get recommended(): number {
    let slots = 0;
    for (const lane of this.#lanes.all) slots += lane.slots;
    return slots;
  }

  /** How many requests may wait, for each provider separately. */
  get queue(): number {
    return this.configured.queue || this.recommended;
  }

  /** How many requests may wait for a provider in this pool. */
  queueOf(lane: Lane): number {
    return this.parts?.queue ?? (this.configured.queue || lane.slots);
  }

  /** Usage and demand of the limits when `inUse` slots are in use. Each provider has its own queue: the longest one counts. */
  uses(inUse: number, heldBack: number): Readonly<Record<PartedLimit, PartUse>> {
    const { recommended } = this;
    const free = Math.max(0, recommended - inUse);
    const able = this.#lanes.next() === null ? 0 : this.#lanes.waiting;
    const queued = Math.max(...this.#lanes.all.map(({ queue }) => queue.size));
    return {
      global: { inUse, heldBack, wanted: Math.min(able, free), most: recommended },
      // A request that finds the queue full must first wait for a larger share, so the pool asks for room for twice as
      // many.
      queue: { inUse: queued, heldBack: 0, wanted: queued, most: Number.POSITIVE_INFINITY },
    };
  }
}
