import type { AcquireRequest } from "../../../src/core/ports/accounts.ts";
import type {
  PoolAccount,
  PoolConfiguration,
  PoolLimits,
} from "../../../src/core/ports/pool-configuration.ts";
import type { Waiter } from "../../../src/pool/queue/waiter.ts";

export const LIMITS: PoolLimits = {
  perAccount: 1,
  global: 0,
  queue: 0,
  queueWaitMs: 60_000,
  tokenRefreshMs: 0,
};

export function account(id: string, more: Partial<PoolAccount> = {}): PoolAccount {
  return { id, email: id, mobile: "", password: "secret", token: "", proxyId: "", ...more };
}

export function configuration(ids: readonly string[], limits: Partial<PoolLimits> = {}): PoolConfiguration {
  return { accounts: ids.map((id) => account(id)), limits: { ...LIMITS, ...limits } };
}

export function request(more: Partial<AcquireRequest> = {}): AcquireRequest {
  return { requestId: "r", model: "m", ...more };
}

/** The account that a waiter was granted, or how else its wait ended; null while it lasts. */
export function result(waiter: Waiter): string | null {
  const { outcome } = waiter;
  if (outcome === null) return null;
  return "granted" in outcome ? outcome.granted.account.id : outcome.refused;
}

/** The lease that a waiter was granted. */
export function leaseOf(waiter: Waiter): string {
  const { outcome } = waiter;
  if (outcome === null || !("granted" in outcome)) throw new Error("the waiter holds no lease");
  return outcome.granted.lease;
}
