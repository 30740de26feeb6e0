import { upstreamOf } from "../captures/tap.ts";
import { GatewayError } from "../errors/gateway-error.ts";
import { ProviderError } from "../errors/provider-error.ts";
import type { AccountRequest, AccountSession } from "./account-request.ts";

/** What speaks to the default provider with a token that the caller has brought: no account, no slot. */
export function passThrough({ context, caller, provider }: AccountRequest): AccountSession {
  // What strangers bring is a token of the default provider: no other one is to see it.
  if (provider !== undefined && provider.id !== "") {
    throw new GatewayError(403, "this model needs an API key of the gateway", {
      code: "permission_denied",
      param: "model",
    });
  }
  const account = { token: caller.credential, fetch: upstreamOf(context, null) };
  return { accountId: "", account, answered: () => undefined, call: (work) => work(account) };
}

/** Whoever meant a key of the gateway is told that it is none: the provider only ever saw a token. */
export function refusedAsToken(error: unknown): never {
  if (!(error instanceof ProviderError) || error.kind !== "token_expired") throw error;
  const message = "the API key is none of this gateway's, and the provider refused it as a token of its own";
  throw new ProviderError(error.kind, message, error.status, error, error.retryAfter, error.said);
}
