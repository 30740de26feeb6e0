import type { AccountCondition, QueueStatus } from "../../core/ports/account-status.ts";
import type { PoolLimits } from "../../core/ports/pool-configuration.ts";
import { listTroubles, type ProviderRecord } from "../health/provider-record.ts";

/** The queue status of one of several pools. */
export interface ShardStatus {
  readonly status: QueueStatus;
  /** The limits of all pools together. */
  readonly limits: PoolLimits;
  /** Ranks among all accounts, of the accounts listed as available or in use. */
  readonly ranks: Readonly<Record<string, number>>;
  /** How the requests to each provider have ended; absent: a shard of an earlier version. */
  readonly providers?: readonly ProviderRecord[];
}

const sum = <T>(items: readonly T[], getNumber: (item: T) => number): number =>
  items.reduce((total, item) => total + getNumber(item), 0);

/**
 * Merges the statuses of all pools into one; at most `maxEntries` entries of each list, in the order of a single pool.
 *
 * @param silent names of the shards that have not answered: they are not counted
 */
export function mergeStatuses(
  shards: readonly ShardStatus[],
  silent: readonly string[] = [],
  maxEntries = Number.POSITIVE_INFINITY,
): QueueStatus {
  const statuses = shards.map(({ status }) => status);
  const total = (getNumber: (status: QueueStatus) => number) => sum(statuses, getNumber);
  const ranks = new Map(shards.flatMap(({ ranks }) => Object.entries(ranks)));
  const getRank = (id: string) => ranks.get(id) ?? Number.POSITIVE_INFINITY;
  const mergeInOrder = (getIds: (status: QueueStatus) => readonly string[]) =>
    [...new Set(statuses.flatMap(getIds))]
      .sort((a, b) => (getRank(a) < getRank(b) ? -1 : getRank(a) > getRank(b) ? 1 : 0))
      .slice(0, maxEntries);
  /** The entries of all pools sorted by a number, the largest first. */
  const takeLargest = <T>(
    getItems: (status: QueueStatus) => readonly T[],
    getNumber: (item: T) => number,
  ): T[] =>
    statuses
      .flatMap(getItems)
      .sort((a, b) => getNumber(b) - getNumber(a))
      .slice(0, maxEntries);
  const condition = (name: AccountCondition) => total(({ conditions }) => conditions[name]);
  const limits = shards[0]?.limits;
  const recommended = total(({ recommended_concurrency }) => recommended_concurrency);
  const outages = new Map(
    takeLargest(
      ({ outages }) => outages,
      ({ since }) => since,
    ).map((outage) => [`${outage.provider}\n${outage.model}`, outage] as const),
  );
  // A request that waits for a shared slot has an account's slot already.
  const waitingIds = new Set(
    limits !== undefined && limits.global > 0
      ? statuses.flatMap(({ waiting_requests }) => waiting_requests.map(({ request_id }) => request_id))
      : [],
  );
  const troubles = listTroubles(shards.flatMap(({ providers = [] }) => providers));
  return {
    available: total(({ available }) => available),
    ready: total(({ ready }) => ready),
    in_use: total(({ in_use }) => in_use),
    total: total(({ total }) => total),
    available_accounts: mergeInOrder(({ available_accounts }) => available_accounts),
    in_use_accounts: mergeInOrder(({ in_use_accounts }) => in_use_accounts),
    max_inflight_per_account: limits?.perAccount ?? 0,
    ...(statuses.some(({ account_slots }) => account_slots !== undefined) && {
      account_slots: Object.assign({}, ...statuses.map(({ account_slots }) => account_slots)),
    }),
    global_max_inflight: limits?.global || recommended,
    recommended_concurrency: recommended,
    waiting: total(({ waiting }) => waiting),
    max_queue_size: limits?.queue || recommended,
    leases: takeLargest(
      ({ leases }) => leases.filter(({ request_id }) => !waitingIds.has(request_id)),
      ({ age_ms }) => age_ms,
    ),
    cooling: total(({ cooling }) => cooling),
    cooldowns: takeLargest(
      ({ cooldowns }) => cooldowns,
      ({ until }) => until,
    ),
    conditions: {
      ok: condition("ok"),
      untested: condition("untested"),
      failing: condition("failing"),
      cooling: condition("cooling"),
      disabled: condition("disabled"),
    },
    failing: takeLargest(
      ({ failing }) => failing,
      ({ at }) => at,
    ),
    outages: [...outages.values()],
    ...(troubles.length > 0 && { troubles }),
    waiting_requests: takeLargest(
      ({ waiting_requests }) => waiting_requests,
      ({ waiting_ms }) => waiting_ms,
    ),
    partial: silent.length > 0,
    silent_shards: silent,
  };
}
