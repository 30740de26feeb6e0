import { readmitted } from "../auth/callers.ts";
import type { Config } from "../config/schema.ts";
import { GatewayError } from "../errors/gateway-error.ts";
import { checkDialect, checkNetwork } from "../limits/allowed.ts";
import type { MeantFor } from "../platform/accounts.ts";
import { ownProvider, providerNamed, sameParty } from "../provider/of-platform.ts";
import type { AccountRequest } from "./account-request.ts";

/** The configuration is another one than that by which the caller was let in: throws what a new request would be told. */
export async function readmit(
  { context, caller, dialect, permits, provider }: AccountRequest,
  newest: Config,
): Promise<void> {
  const { key } = await readmitted(context, caller);
  checkNetwork(key?.entry, context.clientAddress);
  checkDialect(key?.entry, dialect);
  permits?.(key?.entry, newest);
  // What is to be sent was made for the one of before, and may not be for this one's eyes.
  if (provider !== undefined && !sameParty(providerNamed(context.platform, newest, provider.id), provider))
    throw justChanged();
}

/** Throws when a token, or credentials, are not for the provider that the request speaks to: it gets no secrets of another one. */
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

/** What a request is told that was made for settings which have been changed meanwhile. */
export function justChanged(): GatewayError {
  return new GatewayError(503, "the provider's settings have just been changed: send the request again", {
    code: "upstream_unavailable",
  });
}
