import { ProviderError } from "../errors/provider-error.ts";
import type { LightAbortController } from "../http/light-abort-controller.ts";
import type { RequestTimers } from "../http/request-timers.ts";
import type { Lease } from "../platform/accounts.ts";
import { HEARTBEAT_MS } from "../pool/lease-life.ts";

/**
 * Renews a lease at regular intervals while it is held. Aborts the work when the pool has reclaimed the slot, or may do so
 * soon.
 *
 * @returns a function that stops the renewal
 */
export function startLeaseRenewal(
  lease: Lease | null,
  timers: RequestTimers,
  abort: LightAbortController,
): () => void {
  if (lease === null) return () => undefined;
  const renew = () => {
    cancel = timers.runAfter(HEARTBEAT_MS, renew);
    lease.renew().then(
      (held) => {
        if (!held) abort.abort(new ProviderError("timeout", "the account's slot was reclaimed"));
      },
      () => undefined,
    );
  };
  let cancel = timers.runAfter(HEARTBEAT_MS, renew);
  return () => cancel();
}
