import { readmitted } from "../auth/callers.ts";
import type { Config } from "../config/schema.ts";
import { GatewayError } from "../errors/gateway-error.ts";
import { checkDialect, checkNetwork } from "../limits/allowed.ts";
import type { MeantFor } from "../platform/accounts.ts";
import { ownProvider, providerNamed, sameParty } from "../provider/of-platform.ts";
import type { AccountRequest } from "./account-request.ts";

/** Repeats the authorization checks after a change of the configuration. Throws the error that a new request would get. */
export async function readmit(
  { context, caller, dialect, permits, provider }: AccountRequest,
  newest: Config,
): Promise<void> {
  const { key } = await readmitted(context, caller);
  checkNetwork(key?.entry, context.clientAddress);
  checkDialect(key?.entry, dialect);
  permits?.(key?.entry, newest);
  // The request was prepared for the provider's former endpoint. The new endpoint may not be allowed to see it.
  if (provider !== undefined && !sameParty(providerNamed(context.platform, newest, provider.id), provider))
    throw justChanged();
}

/**
 * Throws when a token or credentials do not belong to the provider that the request uses, so that no provider gets another
 * one's secrets.
 */
export async function confirmMeant(
  { context, provider = ownProvider(context.platform) }: AccountRequest,
  { provider: owner = "", configVersion }: MeantFor,
): Promise<void> {
  if (owner !== provider.id) throw justChanged();
  if (configVersion === undefined) return;
  await context.confirmConfig(configVersion);
  const { config } = await context.config();
  if (!sameParty(providerNamed(context.platform, config, owner), provider)) throw justChanged();
}

/** The error for a request that was prepared with settings that have changed meanwhile. */
export function justChanged(): GatewayError {
  return new GatewayError(503, "the provider's settings have just been changed: send the request again", {
    code: "upstream_unavailable",
  });
}
