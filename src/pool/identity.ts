import type { AcquireRequest } from "../platform/accounts.ts";

/** Identity that is unique for each request. */
export function identityOf({ identity, requestId }: Pick<AcquireRequest, "identity" | "requestId">): string {
  return identity ?? requestId;
}
