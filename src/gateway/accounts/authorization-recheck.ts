import { recheckAuthorization } from "../../core/auth/callers.ts";
import type { Config } from "../../core/config/schema.ts";
import { GatewayError } from "../../core/errors/gateway-error.ts";
import type { CredentialAudience } from "../../core/ports/accounts.ts";
import { assertDialectAllowed, assertNetworkAllowed } from "../../pool/limits/key-scope.ts";
import { getDefaultProvider, getProvider, isSameEndpoint } from "../providers/provider-registry.ts";
import type { AccountRequest } from "./account-request.ts";

/** Repeats the authorization checks after a change of the configuration. Throws the error that a new request would get. */
export async function recheckRequestAuthorization(
  { context, caller, dialect, assertPermitted, provider }: AccountRequest,
  newest: Config,
): Promise<void> {
  const { key } = await recheckAuthorization(context, caller);
  assertNetworkAllowed(key?.entry, context.clientAddress);
  assertDialectAllowed(key?.entry, dialect);
  assertPermitted?.(key?.entry, newest);
  // The request was prepared for the provider's former endpoint. The new endpoint may not be allowed to see it.
  if (provider !== undefined && !isSameEndpoint(getProvider(context.platform, newest, provider.id), provider))
    throw settingsChangedError();
}

/**
 * Throws when a token or credentials do not belong to the provider that the request uses, so that no provider gets another
 * one's secrets.
 */
export async function assertAudience(
  { context, provider = getDefaultProvider(context.platform) }: AccountRequest,
  { provider: owner = "", configVersion }: CredentialAudience,
): Promise<void> {
  if (owner !== provider.id) throw settingsChangedError();
  if (configVersion === undefined) return;
  await context.refreshConfig(configVersion);
  const { config } = await context.config();
  if (!isSameEndpoint(getProvider(context.platform, config, owner), provider)) throw settingsChangedError();
}

/** The error for a request that was prepared with settings that have changed meanwhile. */
export function settingsChangedError(): GatewayError {
  return new GatewayError(503, "the provider's settings have just been changed: send the request again", {
    code: "upstream_unavailable",
  });
}
