import { SignJWT } from "jose";
import { readServiceAccountKey } from "../../core/config/account-auth-rules.ts";
import type { AccountAuth } from "../../core/config/schemas/account-auth-schema.ts";
import { fromBase64 } from "../../core/encoding/bytes.ts";
import { ProviderError } from "../../core/errors/provider-error.ts";
import type { SignInResult } from "../../core/ports/accounts.ts";
import type { Fetch } from "../../core/ports/upstream.ts";
import { postTokenRequest } from "./token-endpoint.ts";

const ALGORITHM = "RS256";
const DEFAULT_SCOPE = "https://www.googleapis.com/auth/cloud-platform";
/** Lifetime of the assertion, seconds: the longest that Google accepts. */
const LIFETIME = 3_600;
/** The assertion's times are set back by this, seconds: Google refuses assertions from the future. */
const CLOCK_TOLERANCE = 30;

/**
 * Gets an access token for a Google service account: signs an assertion with its key and exchanges it (RFC 7523).
 *
 * @param now milliseconds since the epoch
 */
export async function requestServiceAccountToken(
  { service_account_key: keyFile = "", scope = DEFAULT_SCOPE }: AccountAuth,
  fetch: Fetch,
  now: number,
  signal: AbortSignal,
): Promise<SignInResult> {
  const key = readServiceAccountKey(keyFile);
  if (key === null) throw unusableKeyError();
  const { clientEmail, privateKey, privateKeyId, tokenUrl } = key;
  const issuedAt = Math.floor(now / 1000) - CLOCK_TOLERANCE;
  const assertion = await new SignJWT({ scope })
    .setProtectedHeader({ alg: ALGORITHM, typ: "JWT", ...(privateKeyId === "" ? {} : { kid: privateKeyId }) })
    .setIssuer(clientEmail)
    .setSubject(clientEmail)
    .setAudience(tokenUrl)
    .setIssuedAt(issuedAt)
    .setExpirationTime(issuedAt + LIFETIME)
    .sign(await importKey(privateKey));
  const form = { grant_type: "urn:ietf:params:oauth:grant-type:jwt-bearer", assertion };
  const { token, expiresAt } = await postTokenRequest({ url: tokenUrl, form }, fetch, now, signal);
  return { token, expiresAt };
}

/** Imports a key of PKCS #8 in PEM (RFC 7468). */
async function importKey(pem: string): Promise<CryptoKey> {
  try {
    const der = fromBase64(pem.replace(/-----[A-Z ]+-----|\s/g, ""));
    const algorithm = { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" };
    return await crypto.subtle.importKey("pkcs8", der, algorithm, false, ["sign"]);
  } catch {
    throw unusableKeyError();
  }
}

function unusableKeyError(): ProviderError {
  return new ProviderError(
    "invalid_credentials",
    "the key file of the account's service account is unusable",
  );
}
