import { GatewayError } from "../../core/errors/gateway-error.ts";
import { ProviderError } from "../../core/errors/provider-error.ts";
import { createAccess } from "../upstream/access.ts";
import type { AccountSession, BudgetedRequest } from "./account-request.ts";

/** Access to the default provider with the caller's own token: without an account and without a slot. */
export function openOwnTokenSession({
  context,
  caller,
  provider,
  model,
  retries,
}: BudgetedRequest): AccountSession {
  // A pass-through credential is a token of the default provider. No other provider may see it.
  if (provider !== undefined && provider.id !== "") {
    throw new GatewayError(403, "this model needs an API key of the gateway", {
      code: "permission_denied",
      param: "model",
    });
  }
  const account = { token: caller.credential, ...createAccess(context, null), retries };
  retries.beginAttempt({ provider: "", account: "", model });
  return {
    accountId: "",
    account,
    reportAnswering: () => undefined,
    runWithToken: (operation) => {
      retries.beginScope("call");
      return operation(account);
    },
  };
}

/**
 * Rewords the error of a refused token: the caller may have meant a key of the gateway, but the provider saw it as a token.
 */
export function rethrowTokenRefusal(error: unknown): never {
  if (!(error instanceof ProviderError) || error.kind !== "token_expired") throw error;
  const message = "this gateway does not know the API key, and the provider refused it as a token";
  throw new ProviderError(error.kind, message, {
    status: error.status,
    cause: error,
    retryAfter: error.retryAfter,
    upstreamFault: error.upstreamFault,
  });
}
