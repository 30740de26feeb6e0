import type { SharedLimitNames } from "../../core/ports/accounts.ts";
import type { PoolLimits, PoolShard } from "../../core/ports/pool-configuration.ts";
import {
  isSharedLimit,
  isSharedSlots,
  sharedLimitsOf,
  UNLIMITED_QUEUE,
} from "../shards/shared-limit-accounts.ts";
import type { ProviderPool, ProviderPools } from "./provider-pool.ts";

/**
 * Limits for slots in use and for waiting requests. Where there are several pools, the first counts those that are set for
 * all accounts together ({@link sharedLimitsOf}); without such a limit the accounts' slots are the limit.
 */
export class SlotLimits {
  configured: PoolLimits = { perAccount: 1, global: 0, queue: 0, queueWaitMs: 60_000, tokenRefreshMs: 0 };
  /** Whether there are several pools. */
  hasPeers = false;
  /** Whether this pool counts the limits of all pools. */
  #isFirst = true;
  readonly #providerPools: ProviderPools;

  constructor(providerPools: ProviderPools) {
    this.#providerPools = providerPools;
  }

  /**
   * @param perAccount slots of each account, by provider, where they differ from `limits`; 0: no limit
   */
  configure(limits: PoolLimits, perAccount: Readonly<Record<string, number>>, shard?: PoolShard): void {
    this.configured = limits;
    this.hasPeers = (shard?.layout.shards.length ?? 1) > 1;
    this.#isFirst = shard === undefined || shard.layout.shards[0] === shard.name;
    for (const providerPool of this.#providerPools.all) {
      const slots = perAccount[providerPool.provider] ?? limits.perAccount;
      providerPool.rotation.perAccount = slots === 0 ? Number.POSITIVE_INFINITY : slots;
    }
  }

  get globalLimit(): number {
    return this.configured.global || this.recommended;
  }

  /** How many slots may be in use in this pool, without those that the first pool counts ({@link mustShare}). */
  get usableSlots(): number {
    const { global } = this.configured;
    // Without a limit the accounts' slots are the limit. Accounts that have moved away count in their new pool.
    const isUnlimited = global === 0 && this.#providerPools.all.some((pool) => pool.isUnlimited);
    if (isUnlimited || (this.hasPeers && !(this.#isFirst && global > 0))) return Number.POSITIVE_INFINITY;
    return this.globalLimit;
  }

  /** Whether an isolate that can do so must acquire a slot of this provider at the first pool, too. */
  mustShare({ provider }: ProviderPool): boolean {
    return this.hasPeers && this.configured.global > 0 && !isSharedLimit(provider);
  }

  /** What a request for this provider must acquire at the first pool. Undefined: no limit is shared. */
  sharedLimitsOf({ provider }: ProviderPool): SharedLimitNames | undefined {
    const { global, queue } = this.configured;
    if (!this.hasPeers || (global === 0 && queue === 0) || isSharedLimit(provider)) return undefined;
    return sharedLimitsOf(provider, global > 0);
  }

  /** Slots of all accounts that have a limit together. */
  get recommended(): number {
    let slots = 0;
    for (const providerPool of this.#providerPools.all)
      if (!providerPool.isUnlimited && !isSharedLimit(providerPool.provider))
        slots += providerPool.totalSlots;
    return slots;
  }

  /** How many requests may wait, for each provider separately. */
  get queueLimit(): number {
    return this.configured.queue || this.recommended;
  }

  /** How many requests may wait for a provider in this pool. */
  queueLimitOf(providerPool: ProviderPool): number {
    const { configuredAccounts, isUnlimited, totalSlots, provider } = providerPool;
    // A request that waits for a shared slot counts in the shared queue of its provider.
    if (isSharedSlots(provider)) return Number.POSITIVE_INFINITY;
    if (this.sharedLimitsOf(providerPool) !== undefined)
      return this.configured.queue || Number.POSITIVE_INFINITY;
    const own = isUnlimited ? configuredAccounts * UNLIMITED_QUEUE : totalSlots;
    return this.configured.queue || own;
  }
}
