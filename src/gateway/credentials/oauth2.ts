import type { AccountAuth } from "../../core/config/schemas/account-auth-schema.ts";
import { textToBase64 } from "../../core/encoding/bytes.ts";
import type { SignInResult } from "../../core/ports/accounts.ts";
import type { Fetch } from "../../core/ports/upstream.ts";
import { postTokenRequest } from "./token-endpoint.ts";

/**
 * Gets an access token with a refresh token (RFC 6749, section 6) or with the client's own credentials (section 4.4).
 *
 * @param now milliseconds since the epoch
 */
export async function requestOAuthToken(
  auth: AccountAuth,
  fetch: Fetch,
  now: number,
  signal: AbortSignal,
): Promise<SignInResult> {
  const { token_url: url = "", client_id: id = "", client_secret: secret, client_auth: method } = auth;
  const { refresh_token: present, scope, audience, resource } = auth;
  const isBasic = method === "basic" && secret !== undefined;
  const grant =
    present === undefined
      ? { grant_type: "client_credentials" }
      : { grant_type: "refresh_token", refresh_token: present };
  const form = {
    ...grant,
    ...(isBasic ? {} : { client_id: id, ...(secret === undefined ? {} : { client_secret: secret }) }),
    ...(scope === undefined ? {} : { scope }),
    ...(audience === undefined ? {} : { audience }),
    ...(resource === undefined ? {} : { resource }),
  };
  const headers: Record<string, string> = isBasic ? { authorization: basicCredentials(id, secret) } : {};
  const { token, expiresAt, refreshToken } = await postTokenRequest(
    { url, form, headers },
    fetch,
    now,
    signal,
  );
  if (present === undefined || refreshToken === null || refreshToken === present) return { token, expiresAt };
  return { token, expiresAt, rotation: { replaced: present, refreshToken } };
}

/** The id and the secret are form-encoded before the base64 encoding (RFC 6749, section 2.3.1). */
function basicCredentials(id: string, secret: string): string {
  const encode = (text: string) => new URLSearchParams({ "": text }).toString().slice(1);
  return `Basic ${textToBase64(`${encode(id)}:${encode(secret)}`)}`;
}
