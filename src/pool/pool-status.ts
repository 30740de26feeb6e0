import type {
  AccountCondition,
  AccountHealth,
  CooldownView,
  FailingAccountView,
  QueueStatus,
} from "../core/ports/account-status.ts";
import { classifyCondition } from "./accounts/account-condition.ts";
import type { AccountState } from "./accounts/account-state.ts";
import { listTroubles, type ProviderRecord } from "./health/provider-record.ts";
import type { LeaseRecord } from "./leases/leases.ts";
import type { ShardStatus } from "./shards/shard-status.ts";
import { isSharedLimit, isSharedQueue, isSharedSlots } from "./shards/shared-limit-accounts.ts";
import type { Slots } from "./slots.ts";

/** Reason and end of an account's cooldown; of two cooldowns (account and proxy) the longer one. */
function cooldownView({
  id,
  breaker,
  proxy,
  quota,
  quotaResetsAt,
  isOutOfQuota,
}: AccountState): CooldownView | null {
  const accountCooldown = breaker.isOpen ? breaker.cooldown : null;
  const proxyCooldown = proxy?.breaker.isOpen === true ? proxy.breaker.cooldown : null;
  if (proxy !== null && proxyCooldown !== null && proxyCooldown.until > (accountCooldown?.until ?? 0)) {
    return { account: id, proxy: proxy.id, ...proxyCooldown };
  }
  if (isOutOfQuota && quotaResetsAt > (accountCooldown?.until ?? 0)) {
    const exhausted = quota.filter(({ isExhausted, isOfModel }) => isExhausted && !isOfModel);
    const names = exhausted.map(({ name }) => name);
    const reason = `the provider's quota is used up: ${names.join(", ")}`;
    return { account: id, proxy: "", kind: "rate_limited", reason, failures: 0, until: quotaResetsAt };
  }
  return accountCooldown === null ? null : { account: id, proxy: "", ...accountCooldown };
}

/** Maximum length of a reason in a list that clients poll. */
const LISTED_REASON_LENGTH = 300;

function readCondition(
  { isEnabled, isCoolingDown, testStatus, health, occupiedSlots }: AccountState,
  now: number,
) {
  const activity = health.read(occupiedSlots, now);
  return {
    activity,
    condition: classifyCondition({
      disabled: !isEnabled,
      cooling: isCoolingDown,
      testStatus,
      isFailing: health.isFailing(now),
      activity,
    }),
  };
}

/** Counts the accounts by condition, and lists at most `maxEntries` failures, the most recent ones first. */
function countConditions(states: Iterable<AccountState>, now: number, maxEntries: number) {
  const conditions: Record<AccountCondition, number> = {
    ok: 0,
    untested: 0,
    failing: 0,
    cooling: 0,
    disabled: 0,
  };
  const failing: FailingAccountView[] = [];
  for (const state of states) {
    if (!state.isListed) continue;
    const { activity, condition } = readCondition(state, now);
    conditions[condition] += 1;
    if (condition !== "failing") continue;
    const { reason, at } = activity.lastFault ?? { reason: state.testStatus, at: 0 };
    failing.push({ account: state.id, reason: reason.slice(0, LISTED_REASON_LENGTH), at });
  }
  failing.sort((a, b) => b.at - a.at);
  return { conditions, failing: failing.slice(0, maxEntries) };
}

/** The slots of accounts for which `max_inflight_per_account` does not hold. */
function listOtherSlots(slots: Slots, ids: ReadonlySet<string>): Pick<QueueStatus, "account_slots"> {
  const { perAccount } = slots.limits.configured;
  const others: Record<string, number> = {};
  for (const id of ids) {
    const state = slots.accounts.get(id);
    const own = state === undefined ? perAccount : slots.providerPools.of(state).rotation.perAccount;
    if (own !== perAccount) others[id] = Number.isFinite(own) ? own : 0;
  }
  return Object.keys(others).length === 0 ? {} : { account_slots: others };
}

/**
 * The queue status (docs/contract/accounts.md, Queue status) with live leases, cooldowns and waiting requests. Each
 * list has at most `maxEntries` entries: first those that have lasted longest (cooldowns: those that will last longest).
 */
export function readQueueStatus(
  slots: Slots,
  now: number,
  maxEntries = Number.POSITIVE_INFINITY,
): QueueStatus {
  const outages = slots.providerPools.all.flatMap(({ breaker, provider }) => breaker.outages(provider));
  const troubles = listTroubles(readProviderRecords(slots, now));
  const { perAccount } = slots.limits.configured;
  // A request that waits for a shared slot has an account already. For a shared queue it waits twice: it counts once.
  const waiters = slots.providerPools.waiters().filter(({ provider }) => !isSharedQueue(provider));
  const waitingForShared = waiters.filter(({ provider }) => isSharedSlots(provider)).length;
  let sharedInUse = 0;
  const available: string[] = [];
  const inUse: string[] = [];
  let ready = 0;
  const cooldowns: CooldownView[] = [];
  for (const state of slots.accounts) {
    if (isSharedLimit(state.provider)) {
      sharedInUse += state.occupiedSlots;
      continue;
    }
    const hasFreeSlot = slots.providerPools.of(state).rotation.hasFreeSlot(state);
    if (hasFreeSlot) available.push(state.id);
    if (state.isHealthy && hasFreeSlot) ready += 1;
    if (state.occupiedSlots > 0) inUse.push(state.id);
    const cooldown = state.account?.moved === true ? null : cooldownView(state);
    if (cooldown !== null) cooldowns.push(cooldown);
  }
  const cooling = cooldowns.length;
  if (cooling > maxEntries) cooldowns.sort((a, b) => b.until - a.until);
  const lists = {
    available_accounts: available.slice(0, maxEntries),
    in_use_accounts: inUse.slice(0, maxEntries),
    cooldowns: cooldowns.slice(0, maxEntries),
  };
  const listed = [...lists.available_accounts, ...lists.in_use_accounts];
  return {
    available: available.length,
    ready,
    in_use: slots.inUse - sharedInUse - waitingForShared,
    total: slots.accounts.total,
    ...lists,
    max_inflight_per_account: perAccount,
    ...listOtherSlots(slots, new Set([...listed, ...lists.cooldowns.map(({ account }) => account)])),
    global_max_inflight: slots.limits.globalLimit,
    recommended_concurrency: slots.limits.recommended,
    waiting: waiters.length,
    max_queue_size: slots.limits.queueLimit,
    leases: Array.from(takeFirst(listedLeases(slots.leases), maxEntries), (lease) => ({
      account: lease.state.id,
      age_ms: now - lease.grantedAt,
      model: lease.holder.model,
      request_id: lease.holder.requestId,
      // A lease granted by an older version has no key.
      key: lease.holder.key ?? "",
      dialect: lease.holder.dialect,
    })),
    cooling,
    ...countConditions(slots.accounts, now, maxEntries),
    outages,
    waiting_requests: waiters.slice(0, maxEntries).map(({ request, since }) => ({
      request_id: request.requestId,
      model: request.model,
      target: request.target ?? null,
      waiting_ms: now - since,
    })),
    ...(troubles.length > 0 && { troubles }),
  };
}

/** The queue status of one of several pools. */
export function readShardStatus(slots: Slots, now: number, maxEntries?: number): ShardStatus {
  const status = readQueueStatus(slots, now, maxEntries);
  const ranks: Record<string, number> = {};
  for (const id of [...status.available_accounts, ...status.in_use_accounts])
    ranks[id] = slots.accounts.get(id)?.account?.rank ?? Number.POSITIVE_INFINITY;
  return { status, limits: slots.limits.configured, ranks, providers: readProviderRecords(slots, now) };
}

/** How the requests to each provider have ended. */
function readProviderRecords(slots: Slots, now: number): ProviderRecord[] {
  // The pool of a provider that was deleted or switched off stays.
  return slots.providerPools.all
    .filter(({ enabledAccounts, provider }) => enabledAccounts > 0 && !isSharedLimit(provider))
    .map((providerPool) => providerPool.readHealth(now));
}

/** The leases of accounts, without those of shared limits. */
function* listedLeases(leases: Iterable<LeaseRecord>): Generator<LeaseRecord> {
  for (const lease of leases) if (!isSharedLimit(lease.state.provider)) yield lease;
}

/** Yields at most the first `limit` items, without reading the others. */
function* takeFirst<T>(items: Iterable<T>, limit: number): Generator<T> {
  let count = 0;
  for (const item of items) {
    if (count >= limit) return;
    count += 1;
    yield item;
  }
}

/** Health of the configured accounts among `states`. */
export function listAccountHealth(states: Iterable<AccountState | undefined>, now: number): AccountHealth[] {
  const health: AccountHealth[] = [];
  for (const state of states) {
    if (state?.isListed !== true) continue;
    health.push({
      id: state.id,
      token: state.gate.currentToken?.token ?? null,
      testStatus: state.testStatus,
      cooldown: cooldownView(state),
      quotas: state.quota
        .filter(({ resetsAt }) => resetsAt > now)
        .map(({ name, remaining, resetsAt }) => ({ name, remaining, resets_at: resetsAt })),
      ...readCondition(state, now),
    });
  }
  return health;
}
