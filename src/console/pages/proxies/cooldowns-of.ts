import type { QueueStatus } from "../../api/queue.ts";

/** A proxy that is passed over since requests failed because of it. */
export interface CoolingProxy {
  readonly reason: string;
  /** Unix milliseconds. */
  readonly until: number;
  /** The accounts that are passed over with it. */
  readonly accounts: readonly string[];
}

/** The proxies that cool down, by their ids. */
export function cooldownsOf(queue: Pick<QueueStatus, "cooldowns"> | null): ReadonlyMap<string, CoolingProxy> {
  const found = new Map<string, CoolingProxy>();
  for (const { proxy, account, reason, until } of queue?.cooldowns ?? []) {
    if (proxy === "") continue;
    const accounts = [...(found.get(proxy)?.accounts ?? []), account];
    found.set(proxy, { reason, until, accounts });
  }
  return found;
}
