import type { AcquireRequest } from "../platform/accounts.ts";

/** What tells a request from all others. */
export function identityOf({ identity, requestId }: Pick<AcquireRequest, "identity" | "requestId">): string {
  return identity ?? requestId;
}
