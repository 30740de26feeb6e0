import type { SharedLimitNames } from "../../core/ports/accounts.ts";
import type { PoolAccount, PoolConfiguration } from "../../core/ports/pool-configuration.ts";

/**
 * With several shards, the first one counts the limits that an administrator has set for all accounts together. It has an
 * account of its own for each such limit: a slot of the first is a slot in use at any shard, and a request that waits
 * for one of the others waits at any shard. So these counts survive restarts as all leases do, and callers are served
 * fairly.
 */
const PREFIX = "shared-limit:";

/** Provider and account whose slots are the slots in use at all shards. */
const SLOTS = `${PREFIX}slots`;
/** Provider and account whose waiting requests are those of a provider at all shards; the provider's name follows. */
const QUEUE = `${PREFIX}queue:`;

/** How many requests may wait for each account without a limit: its first requests, or those of a global limit. */
export const UNLIMITED_QUEUE = 256;

/** Whether a provider stands for a shared limit. The names of configured providers have no colon. */
export const isSharedLimit = (provider: string): boolean => provider.startsWith(PREFIX);

/** Whether a provider stands for the slots in use at all shards. */
export const isSharedSlots = (provider: string): boolean => provider === SLOTS;

/** Whether an account stands for a queue: it never has a free slot, since only waiting for it matters. */
export const isSharedQueue = (provider: string): boolean => provider.startsWith(QUEUE);

/** The names of the limits that a request for a provider's account must acquire at the first shard. */
export function sharedLimitsOf(provider: string, hasGlobalLimit: boolean): SharedLimitNames {
  return { ...(hasGlobalLimit ? { slots: SLOTS } : {}), queue: `${QUEUE}${provider}` };
}

/** Builds the accounts of the shared limits, and their numbers of slots, for the configuration of the first shard. */
export function buildSharedLimits({
  accounts,
  limits,
  perAccount = {},
}: PoolConfiguration): Required<Pick<PoolConfiguration, "accounts" | "perAccount">> {
  if (limits.global === 0 && limits.queue === 0) return { accounts: [], perAccount };
  const counts = new Map<string, number>();
  for (const { provider = "" } of accounts) counts.set(provider, (counts.get(provider) ?? 0) + 1);
  const slots: Record<string, number> = { ...perAccount };
  if (limits.global > 0) slots[SLOTS] = 0;
  for (const [provider, count] of counts)
    slots[`${QUEUE}${provider}`] =
      limits.queue || count * ((perAccount[provider] ?? limits.perAccount) || UNLIMITED_QUEUE);
  const names = Object.keys(slots).filter(isSharedLimit);
  return { accounts: names.map(createAccount), perAccount: slots };
}

function createAccount(id: string): PoolAccount {
  return { id, email: "", mobile: "", password: "", token: "", proxyId: "", provider: id };
}
