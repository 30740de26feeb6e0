import type { Config } from "../../core/config/schema.ts";
import { GatewayError } from "../../core/errors/gateway-error.ts";
import type { CredentialAudience } from "../../core/ports/accounts.ts";
import type { Platform } from "../../core/ports/platform.ts";
import {
  getDefaultProvider,
  getProvider,
  isSameEndpoint,
  type RegisteredProvider,
} from "../providers/provider-registry.ts";
import type { AccountRequest } from "./account-request.ts";

/**
 * Throws unless an account's token or credentials belong to the provider and endpoint that the request uses: a credential
 * goes only to the endpoint that it was configured for. Every grant and every token passes here.
 *
 * @throws GatewayError 503 if the provider's settings have changed, or the newest configuration cannot be read
 */
export async function assertAudience(
  { context, provider = getDefaultProvider(context.platform) }: AccountRequest,
  { provider: owner, configVersion }: CredentialAudience,
): Promise<void> {
  if (configVersion !== undefined) await context.ensureConfigVersion(configVersion);
  const { config } = await context.config();
  assertSameEndpoint(context.platform, config, owner, provider);
}

/** Throws unless `owner` is `provider`, and has the same endpoint in this configuration. */
export function assertSameEndpoint(
  platform: Platform,
  config: Config,
  owner: string | undefined,
  provider: RegisteredProvider,
): void {
  if ((owner ?? "") === provider.id && isSameEndpoint(getProvider(platform, config, owner), provider)) return;
  throw new GatewayError(503, "the provider's settings have just been changed: send the request again", {
    code: "upstream_unavailable",
  });
}
