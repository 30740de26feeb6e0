import type { QueueStatus } from "../../api/queue.ts";

/** A proxy in cooldown after failed requests. */
export interface CoolingProxy {
  readonly reason: string;
  /** Unix milliseconds. */
  readonly until: number;
  /** Accounts that are unavailable because of it. */
  readonly accounts: readonly string[];
}

/** Returns the proxies in cooldown, by id. */
export function findProxyCooldowns(
  queue: Pick<QueueStatus, "cooldowns"> | null,
): ReadonlyMap<string, CoolingProxy> {
  const cooling = new Map<string, CoolingProxy>();
  for (const { proxy, account, reason, until } of queue?.cooldowns ?? []) {
    if (proxy === "") continue;
    const accounts = [...(cooling.get(proxy)?.accounts ?? []), account];
    cooling.set(proxy, { reason, until, accounts });
  }
  return cooling;
}
