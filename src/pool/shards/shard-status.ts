import type { AccountCondition, QueueStatus } from "../../core/ports/account-status.ts";
import type { PoolLimits } from "../../core/ports/pool-configuration.ts";

/** The queue status of one of several pools. */
export interface ShardStatus {
  readonly status: QueueStatus;
  /** The limits of all pools together. */
  readonly limits: PoolLimits;
  /** Ranks among all accounts, of the accounts listed as available or in use. */
  readonly ranks: Readonly<Record<string, number>>;
}

const sum = <T>(items: readonly T[], of: (item: T) => number): number =>
  items.reduce((all, item) => all + of(item), 0);

/**
 * Merges the statuses of all pools into one; at most `most` entries of each list, in the order of a single pool.
 *
 * @param silent names of the shards that have not answered: they are not counted
 */
export function mergeStatuses(
  shards: readonly ShardStatus[],
  silent: readonly string[] = [],
  most = Number.POSITIVE_INFINITY,
): QueueStatus {
  const all = shards.map(({ status }) => status);
  const total = (of: (status: QueueStatus) => number) => sum(all, of);
  const ranks = new Map(shards.flatMap(({ ranks }) => Object.entries(ranks)));
  const rankOf = (id: string) => ranks.get(id) ?? Number.POSITIVE_INFINITY;
  const inOrder = (of: (status: QueueStatus) => readonly string[]) =>
    [...new Set(all.flatMap(of))]
      .sort((one, other) => (rankOf(one) < rankOf(other) ? -1 : rankOf(one) > rankOf(other) ? 1 : 0))
      .slice(0, most);
  /** The entries of all pools sorted by a number, the largest first. */
  const largest = <T>(of: (status: QueueStatus) => readonly T[], by: (item: T) => number): T[] =>
    all
      .flatMap(of)
      .sort((one, other) => by(other) - by(one))
      .slice(0, most);
  const condition = (name: AccountCondition) => total(({ conditions }) => conditions[name]);
  const limits = shards[0]?.limits;
  const recommended = total(({ recommended_concurrency }) => recommended_concurrency);
  const outages = new Map(
    largest(
      ({ outages }) => outages,
      ({ since }) => since,
    ).map((outage) => [`${outage.provider}\n${outage.model}`, outage] as const),
  );
  return {
    available: total(({ available }) => available),
    ready: total(({ ready }) => ready),
    in_use: total(({ in_use }) => in_use),
    total: total(({ total }) => total),
    available_accounts: inOrder(({ available_accounts }) => available_accounts),
    in_use_accounts: inOrder(({ in_use_accounts }) => in_use_accounts),
    max_inflight_per_account: limits?.perAccount ?? 0,
    global_max_inflight: limits?.global || recommended,
    recommended_concurrency: recommended,
    waiting: total(({ waiting }) => waiting),
    max_queue_size: limits?.queue || recommended,
    leases: largest(
      ({ leases }) => leases,
      ({ age_ms }) => age_ms,
    ),
    cooling: total(({ cooling }) => cooling),
    cooldowns: largest(
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
    failing: largest(
      ({ failing }) => failing,
      ({ at }) => at,
    ),
    outages: [...outages.values()],
    waiting_requests: largest(
      ({ waiting_requests }) => waiting_requests,
      ({ waiting_ms }) => waiting_ms,
    ),
    partial: silent.length > 0,
    silent_shards: silent,
  };
}
