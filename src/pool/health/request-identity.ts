import type { AcquireRequest } from "../../core/ports/accounts.ts";

/** Identity that is unique for each request. */
export function requestIdentityOf({
  identity,
  requestId,
}: Pick<AcquireRequest, "identity" | "requestId">): string {
  return identity ?? requestId;
}
