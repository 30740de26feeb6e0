import type { AccountAuth } from "../../core/config/schemas/account-auth-schema.ts";
import type { SignInResult } from "../../core/ports/accounts.ts";
import type { Platform } from "../../core/ports/platform.ts";
import type { Fetch, OutboundProxy } from "../../core/ports/upstream.ts";
import { formatSeriesName } from "../../records/telemetry/counts.ts";
import { UPSTREAM_REQUESTS } from "../../records/telemetry/metric-names.ts";
import { getOutbox } from "../../records/telemetry/outbox.ts";
import { requestServiceAccountToken } from "./google-service-account.ts";
import { requestOAuthToken } from "./oauth2.ts";

/**
 * Gets an access token from the token endpoint of an account's credentials, through the account's proxy.
 *
 * @throws ProviderError if the endpoint refuses the credentials or fails
 */
export function requestAccessToken(
  platform: Platform,
  auth: AccountAuth,
  proxy: OutboundProxy | null,
  signal: AbortSignal,
): Promise<SignInResult> {
  const request = auth.type === "google_service_account" ? requestServiceAccountToken : requestOAuthToken;
  return request(auth, createTokenFetch(platform, proxy), platform.now(), signal);
}

/**
 * Creates the `fetch` for token endpoints. It adds no header of a provider, and no exchange is ever captured: all of its
 * content is secret.
 */
function createTokenFetch(platform: Platform, proxy: OutboundProxy | null): Fetch {
  const fetch = platform.upstreamFetch(proxy);
  return async (url, init) => {
    const count = (status: string) =>
      getOutbox(platform).counts.add(formatSeriesName(UPSTREAM_REQUESTS, { operation: "token", status }));
    try {
      const response = await fetch(url, init);
      count(String(response.status));
      return response;
    } catch (error) {
      count(init?.signal?.aborted === true ? "cancelled" : "unreachable");
      throw error;
    }
  };
}
