import type { AccountState } from "./account-state.ts";
import type { AccountHealth, CooldownView, QueueStatus } from "./client.ts";
import type { LeaseRecord } from "./leases.ts";
import type { Waiter } from "./waiting-queue.ts";

/** The pool's state, as the status is made from it. */
export interface PoolSnapshot {
  readonly states: Iterable<AccountState>;
  readonly leases: Iterable<LeaseRecord>;
  readonly waiters: readonly Waiter[];
  readonly inUse: number;
  readonly total: number;
  readonly perAccount: number;
  readonly globalLimit: number;
  readonly queueLimit: number;
  readonly now: number;
}

function cooldownView(state: AccountState): CooldownView | null {
  if (!state.cooling || state.cooldown === null) return null;
  return { account: state.id, ...state.cooldown };
}

/** Contract, Queue status, with the live leases, cooldowns and waiting requests. */
export function queueStatus(pool: PoolSnapshot): QueueStatus {
  const available: string[] = [];
  const inUse: string[] = [];
  const cooldowns: CooldownView[] = [];
  for (const state of pool.states) {
    if (state.account !== null && state.held < pool.perAccount) available.push(state.id);
    if (state.held > 0) inUse.push(state.id);
    const cooldown = cooldownView(state);
    if (cooldown !== null) cooldowns.push(cooldown);
  }
  return {
    available: available.length,
    in_use: pool.inUse,
    total: pool.total,
    available_accounts: available,
    in_use_accounts: inUse,
    max_inflight_per_account: pool.perAccount,
    global_max_inflight: pool.globalLimit,
    recommended_concurrency: pool.total * pool.perAccount,
    waiting: pool.waiters.length,
    max_queue_size: pool.queueLimit,
    leases: Array.from(pool.leases, (lease) => ({
      account: lease.state.id,
      age_ms: pool.now - lease.grantedAt,
      model: lease.holder.model,
      request_id: lease.holder.requestId,
      dialect: lease.holder.dialect,
    })),
    cooldowns,
    waiting_requests: pool.waiters.map(({ request, since }) => ({
      request_id: request.requestId,
      model: request.model,
      target: request.target ?? null,
      waiting_ms: pool.now - since,
    })),
  };
}

/** Health of the configured accounts among `states`. */
export function accountHealth(states: Iterable<AccountState | undefined>): AccountHealth[] {
  const health: AccountHealth[] = [];
  for (const state of states) {
    if (state?.account == null) continue;
    health.push({
      id: state.id,
      token: state.gate.held?.token ?? null,
      testStatus: state.testStatus,
      cooldown: cooldownView(state),
    });
  }
  return health;
}
