import { ProviderError, type ProviderErrorKind } from "../../src/core/errors/provider-error.ts";
import type { AccountFailure } from "../../src/core/ports/accounts.ts";
import { toAccountFailure } from "../../src/gateway/accounts/fault-attribution.ts";

/** A failure of the provider, as reported to the pool. */
export function failure(
  kind: ProviderErrorKind,
  message = `the provider says ${kind}`,
  more: Partial<AccountFailure> = {},
): AccountFailure {
  return { ...toAccountFailure(new ProviderError(kind, message)), ...more };
}
