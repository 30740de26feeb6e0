import { toAccountFailure } from "../../src/accounts/fault.ts";
import { ProviderError, type ProviderErrorKind } from "../../src/errors/provider-error.ts";
import type { AccountFailure } from "../../src/platform/accounts.ts";

/** A failure of the provider, as reported to the pool. */
export function failure(
  kind: ProviderErrorKind,
  message = `the provider says ${kind}`,
  more: Partial<AccountFailure> = {},
): AccountFailure {
  return { ...toAccountFailure(new ProviderError(kind, message)), ...more };
}
