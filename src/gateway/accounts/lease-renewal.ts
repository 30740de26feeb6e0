import { ProviderError } from "../../core/errors/provider-error.ts";
import type { Lease } from "../../core/ports/accounts.ts";
import { HEARTBEAT_MS } from "../../pool/leases/lease-timing.ts";

/**
 * Renews a lease at regular intervals while it is held. Aborts the work when the pool has reclaimed the slot, or may do so
 * soon.
 *
 * @returns a function that stops the renewal
 */
export function startLeaseRenewal(lease: Lease, abort: AbortController): () => void {
  const timer = setInterval(() => {
    lease.renew().then(
      (isHeld) => {
        if (!isHeld) abort.abort(new ProviderError("timeout", "the account's slot was reclaimed"));
      },
      () => undefined,
    );
  }, HEARTBEAT_MS);
  return () => clearInterval(timer);
}
