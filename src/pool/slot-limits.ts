import type { PoolLimits } from "../platform/pool-configuration.ts";
import type { Lane, Lanes } from "./lane.ts";
import type { PartedLimit, PartUse } from "./limit-part.ts";

/** What one of several pools may use of the limits that it shares with the others; null: there is no such limit. */
export interface LimitParts {
  /** Slots in use. */
  readonly global: number | null;
  /** Waiting requests, of which each provider has its own. */
  readonly queue: number | null;
}

/** How many slots may be in use, and how many requests may wait: what is configured, and a pool's parts of it where there are several. */
export class SlotLimits {
  /** As they are configured. */
  configured: PoolLimits = { perAccount: 1, global: 0, queue: 0, queueWaitMs: 60_000, tokenRefreshMs: 0 };
  /** Null: there is one pool. */
  parts: LimitParts | null = null;
  readonly #lanes: Lanes;

  constructor(lanes: Lanes) {
    this.#lanes = lanes;
  }

  /**
   * @param perAccount slots of each account, by provider, where they are not those of `limits`
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

  /** How many slots may be in use here. */
  get usable(): number {
    // Without a limit the accounts' slots are what there is: those of accounts that have moved away count where they are now.
    return this.parts === null ? this.global : (this.parts.global ?? Number.POSITIVE_INFINITY);
  }

  /** Slots of all accounts together. */
  get recommended(): number {
    let slots = 0;
    for (const lane of this.#lanes.all) slots += lane.slots;
    return slots;
  }

  /** How many requests may wait, of which each provider has its own. */
  get queue(): number {
    return this.configured.queue || this.recommended;
  }

  /** How many requests may wait for a provider here. */
  queueOf(lane: Lane): number {
    return this.parts?.queue ?? (this.configured.queue || lane.slots);
  }

  /** How much of the limits is used, and could be, when so many slots are in use. Each provider has a queue: the longest counts. */
  uses(inUse: number, heldBack: number): Readonly<Record<PartedLimit, PartUse>> {
    const { recommended } = this;
    const free = Math.max(0, recommended - inUse);
    const able = this.#lanes.next() === null ? 0 : this.#lanes.waiting;
    const queued = Math.max(...this.#lanes.all.map(({ queue }) => queue.size));
    return {
      global: { inUse, heldBack, wanted: Math.min(able, free), most: recommended },
      // Who finds it full has to wait for a part of it first: so there is to be room for twice as many.
      queue: { inUse: queued, heldBack: 0, wanted: queued, most: Number.POSITIVE_INFINITY },
    };
  }
}
