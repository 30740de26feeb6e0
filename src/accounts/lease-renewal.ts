import { ProviderError } from "../errors/provider-error.ts";
import type { LightAbortController } from "../http/light-abort-controller.ts";
import type { RequestTimers } from "../http/request-timers.ts";
import type { Lease } from "../platform/accounts.ts";
import { BEAT_MS } from "../pool/lease-life.ts";

/**
 * Makes sure that a lease lives while it is held. A slot that was reclaimed, or may be soon, aborts the work.
 *
 * @returns Ends the renewal.
 */
export function renewLease(
  lease: Lease | null,
  timers: RequestTimers,
  abort: LightAbortController,
): () => void {
  if (lease === null) return () => undefined;
  const beat = () => {
    cancel = timers.after(BEAT_MS, beat);
    lease.renew().then(
      (held) => {
        if (!held) abort.abort(new ProviderError("timeout", "the account's slot was reclaimed"));
      },
      () => undefined,
    );
  };
  let cancel = timers.after(BEAT_MS, beat);
  return () => cancel();
}
