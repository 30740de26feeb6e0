import type { PoolLimits } from "../core/ports/pool-configuration.ts";
import type { DistributedLimit, LimitUsage } from "./limit-share.ts";
import type { ProviderPool, ProviderPools } from "./provider-pool.ts";

/** How much one of several pools may use of the limits that it shares with the others; null: there is no such limit. */
export interface LimitShares {
  /** Slots in use. */
  readonly global: number | null;
  /** Waiting requests, for each provider separately. */
  readonly queue: number | null;
}

/** For how many requests an account without a limit counts where a number is needed: in the queue, and in shares of a limit. */
const UNLIMITED_SLOTS = 256;

function countSlots({ isUnlimited, configuredAccounts, totalSlots }: ProviderPool): number {
  return isUnlimited ? configuredAccounts * UNLIMITED_SLOTS : totalSlots;
}

/**
 * Limits for slots in use and for waiting requests: the configured values, and the pool's shares of them where there are
 * several pools.
 */
export class SlotLimits {
  configured: PoolLimits = { perAccount: 1, global: 0, queue: 0, queueWaitMs: 60_000, tokenRefreshMs: 0 };
  /** Null: there is one pool. */
  shares: LimitShares | null = null;
  readonly #providerPools: ProviderPools;

  constructor(providerPools: ProviderPools) {
    this.#providerPools = providerPools;
  }

  /**
   * @param perAccount slots of each account, by provider, where they differ from `limits`; 0: no limit
   */
  configure(limits: PoolLimits, perAccount: Readonly<Record<string, number>>): void {
    this.configured = limits;
    for (const providerPool of this.#providerPools.all) {
      const slots = perAccount[providerPool.provider] ?? limits.perAccount;
      providerPool.rotation.perAccount = slots === 0 ? Number.POSITIVE_INFINITY : slots;
    }
  }

  get globalLimit(): number {
    return this.configured.global || this.recommended;
  }

  /** How many slots may be in use in this pool. */
  get usableSlots(): number {
    // Without a limit the accounts' slots are the limit. Accounts that have moved away count in their new pool.
    if (this.shares !== null) return this.shares.global ?? Number.POSITIVE_INFINITY;
    const isUnlimited =
      this.configured.global === 0 && this.#providerPools.all.some((pool) => pool.isUnlimited);
    return isUnlimited ? Number.POSITIVE_INFINITY : this.globalLimit;
  }

  /** Slots of all accounts that have a limit together. */
  get recommended(): number {
    let slots = 0;
    for (const providerPool of this.#providerPools.all)
      if (!providerPool.isUnlimited) slots += providerPool.totalSlots;
    return slots;
  }

  /** How many requests may wait, for each provider separately. */
  get queueLimit(): number {
    return this.configured.queue || this.recommended;
  }

  /** How many requests may wait for a provider in this pool. */
  queueLimitOf(providerPool: ProviderPool): number {
    return this.shares?.queue ?? (this.configured.queue || countSlots(providerPool));
  }

  /** Usage and demand of the limits when `inUse` slots are in use. Each provider has its own queue: the longest one counts. */
  usage(inUse: number, heldBack: number): Readonly<Record<DistributedLimit, LimitUsage>> {
    const slots = this.#providerPools.all.reduce((sum, pool) => sum + countSlots(pool), 0);
    const freeSlots = Math.max(0, slots - inUse);
    const runnable = this.#providerPools.nextRunnable() === null ? 0 : this.#providerPools.waitingCount;
    const queued = Math.max(...this.#providerPools.all.map(({ queue }) => queue.size));
    return {
      global: { inUse, heldBack, wanted: Math.min(runnable, freeSlots), most: slots },
      // A request that finds the queue full must first wait for a larger share, so the pool asks for room for twice as
      // many.
      queue: { inUse: queued, heldBack: 0, wanted: queued, most: Number.POSITIVE_INFINITY },
    };
  }
}
