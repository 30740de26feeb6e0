import { ProviderError } from "../../core/errors/provider-error.ts";
import type { LightAbortController } from "../../core/http/light-abort-controller.ts";
import type { RequestTimers } from "../../core/http/request-timers.ts";
import type { Lease } from "../../core/ports/accounts.ts";
import { HEARTBEAT_MS } from "../../pool/lease-timing.ts";

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
      (isHeld) => {
        if (!isHeld) abort.abort(new ProviderError("timeout", "the account's slot was reclaimed"));
      },
      () => undefined,
    );
  };
  let cancel = timers.runAfter(HEARTBEAT_MS, renew);
  return () => cancel();
}
