import { createLocalJWKSet, errors, type JWTPayload, type JWTVerifyOptions, jwtVerify, SignJWT } from "jose";
import { createSecret } from "../../../core/auth/secrets.ts";
import { toBase64Url } from "../../../core/encoding/bytes.ts";
import { sha256 } from "../../../core/encoding/hash.ts";
import { isObject, type JsonObject } from "../../../core/encoding/json.ts";
import { GatewayError } from "../../../core/errors/gateway-error.ts";
import type { Fetch } from "../../../core/ports/upstream.ts";
import { readBounded } from "../../../gateway/providers/transport.ts";

const TIMEOUT_MS = 10_000;
/** Longest answer of the identity provider, bytes. */
const MAX_ANSWER_BYTES = 1_000_000;
/** How long a person may take to sign in at the identity provider, seconds. */
export const SIGN_IN_SECONDS = 600;
const COOKIE_ISSUER = "polygate-oidc";

/** What the flow needs to know of the identity provider and of the deployment. */
export interface OidcSettings {
  readonly issuer: string;
  readonly clientId: string;
  /** Empty: a public client, which has PKCE alone. */
  readonly clientSecret: string;
  readonly scope: string;
  readonly redirectUri: string;
  readonly fetch: Fetch;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** The metadata of the identity provider is cached for it. */
  readonly platform: object;
  readonly waitUntil: (work: Promise<unknown>) => void;
}

/** Who signed in. */
export interface OidcIdentity {
  readonly subject: string;
  /** With ASCII letters in lower case; empty: unknown. */
  readonly email: string;
  readonly isEmailVerified: boolean;
}

const fail = (message: string): GatewayError =>
  new GatewayError(400, `sign-in failed: ${message}`, { code: "invalid_request" });

/** The Kelvin sign would become a k: two people could have one address. */
const toLowerCaseAscii = (text: string): string =>
  text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);

/** Parses a JSON object; null if the text is something else. */
function parseObjectOrNull(text: string): JsonObject | null {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

async function fetchJson(
  { fetch }: OidcSettings,
  address: string,
  init: RequestInit,
  what: string,
): Promise<JsonObject> {
  try {
    const response = await fetch(address, { ...init, signal: AbortSignal.timeout(TIMEOUT_MS) });
    const { text, whole } = await readBounded(response, MAX_ANSWER_BYTES);
    if (!whole) throw fail(`${what} sent too much, or broke off`);
    const body = parseObjectOrNull(text);
    if (response.ok && body !== null) return body;
    if (response.ok) throw fail(`${what} sent no JSON object`);
    const reason = typeof body?.["error"] === "string" ? `: ${body["error"]}` : "";
    throw fail(`${what} answered ${response.status}${reason.slice(0, 100)}`);
  } catch (error) {
    if (error instanceof GatewayError) throw error;
    throw fail(`${what} cannot be reached`);
  }
}

/** What the identity provider states about itself (OpenID Connect Discovery 1.0, section 3). */
interface ProviderMetadata {
  readonly issuer: string;
  readonly authorizationEndpoint: string;
  readonly tokenEndpoint: string;
  readonly jwksUri: string;
  /** Null: there is none. */
  readonly userInfoEndpoint: string | null;
  /** The client sends its secret in the form, because the token endpoint does not take it in a header. */
  readonly usesClientSecretPost: boolean;
}

/** How long the metadata of the identity provider is used, and how long a failure to read it, milliseconds. */
const METADATA_MS = 300_000;
const FAILURE_MS = 5_000;

/** The latest metadata that was requested. */
interface Discovery {
  readonly issuer: string;
  until: number;
  readonly metadata: Promise<ProviderMetadata>;
}

const discoveries = new WeakMap<object, Discovery>();

/**
 * Returns the addresses of the identity provider. Anybody may begin to sign in, so the metadata is cached, and requests
 * at the same time share one request to the identity provider.
 */
function discover(settings: OidcSettings): Promise<ProviderMetadata> {
  const { issuer, now, platform, waitUntil } = settings;
  const known = discoveries.get(platform);
  if (known !== undefined && known.issuer === issuer && known.until > now) return known.metadata;
  const metadata = readMetadata(settings);
  const discovery: Discovery = { issuer, until: now + METADATA_MS, metadata };
  discoveries.set(platform, discovery);
  // Other requests may wait for the answer, so it must come even if this client disconnects.
  waitUntil(
    metadata.catch(() => {
      discovery.until = now + FAILURE_MS;
    }),
  );
  return metadata;
}

/** Reads the addresses of the identity provider (OpenID Connect Discovery 1.0). */
async function readMetadata(settings: OidcSettings): Promise<ProviderMetadata> {
  const address = `${settings.issuer}/.well-known/openid-configuration`;
  const metadata = await fetchJson(settings, address, {}, "the identity provider");
  const isSecure = settings.issuer.startsWith("https:");
  const read = (name: string): string => {
    const value = metadata[name];
    if (typeof value !== "string" || !URL.canParse(value))
      throw fail(`the identity provider does not state its ${name}`);
    const { protocol } = new URL(value);
    if (protocol !== "https:" && (isSecure || protocol !== "http:"))
      throw fail(`the ${name} of the identity provider is no https address`);
    return value;
  };
  const issuer = read("issuer");
  if (issuer.replace(/\/$/, "") !== settings.issuer)
    throw fail("the identity provider states another issuer than the settings");
  const methods: unknown = metadata["token_endpoint_auth_methods_supported"];
  return {
    issuer,
    authorizationEndpoint: read("authorization_endpoint"),
    tokenEndpoint: read("token_endpoint"),
    jwksUri: read("jwks_uri"),
    userInfoEndpoint: metadata["userinfo_endpoint"] === undefined ? null : read("userinfo_endpoint"),
    usesClientSecretPost:
      Array.isArray(methods) &&
      methods.includes("client_secret_post") &&
      !methods.includes("client_secret_basic"),
  };
}

/**
 * Begins an authorization code flow with PKCE.
 *
 * @param secret signs the cookie
 * @returns the address for the browser, and the cookie that it must bring back
 */
export async function beginSignIn(
  settings: OidcSettings,
  secret: string,
): Promise<{ readonly address: string; readonly cookie: string }> {
  const { authorizationEndpoint } = await discover(settings);
  const [state, nonce, verifier] = [createSecret(), createSecret(), createSecret()];
  const address = new URL(authorizationEndpoint);
  const parameters = {
    response_type: "code",
    client_id: settings.clientId,
    redirect_uri: settings.redirectUri,
    scope: settings.scope,
    state,
    nonce,
    code_challenge: toBase64Url(await sha256(verifier)),
    code_challenge_method: "S256",
  };
  for (const [name, value] of Object.entries(parameters)) address.searchParams.set(name, value);
  const issuedAt = Math.floor(settings.now / 1000);
  const cookie = await new SignJWT({ state, nonce, verifier })
    .setProtectedHeader({ alg: "HS256" })
    .setIssuer(COOKIE_ISSUER)
    .setExpirationTime(issuedAt + SIGN_IN_SECONDS)
    .sign(encode(secret));
  return { address: address.href, cookie };
}

async function readCookie(cookie: string, secret: string, now: number): Promise<Record<string, unknown>> {
  try {
    const options = { algorithms: ["HS256"], issuer: COOKIE_ISSUER, currentDate: new Date(now) };
    return (await jwtVerify(cookie, encode(secret), options)).payload;
  } catch {
    throw fail("it took too long, or began in another browser: try again");
  }
}

/** What the browser brings back from the identity provider, and what the flow needs to check it. */
export interface SignInCallback {
  /** Signed the cookie. */
  readonly secret: string;
  /** The cookie of `beginSignIn`; empty: the browser sent none. */
  readonly cookie: string;
  readonly state: string;
  readonly code: string;
  /** Whether an administrator has this subject. Then the e-mail address is not needed. */
  readonly isKnownSubject: (subject: string) => boolean;
  /** Called before the first request to the identity provider, but not if the flow did not begin in this browser. */
  readonly countAttempt: () => Promise<void>;
}

/**
 * Completes the flow: checks the state, exchanges the code, and verifies the ID token.
 *
 * @throws GatewayError 400 that says what failed
 */
export async function completeSignIn(
  settings: OidcSettings,
  { secret, cookie, state, code, isKnownSubject, countAttempt }: SignInCallback,
): Promise<OidcIdentity> {
  const begun = await readCookie(cookie, secret, settings.now);
  if (state === "" || begun["state"] !== state) throw fail("it did not begin in this browser: try again");
  await countAttempt();
  const { issuer, tokenEndpoint, jwksUri, userInfoEndpoint, usesClientSecretPost } = await discover(settings);
  const form = new URLSearchParams({
    grant_type: "authorization_code",
    code,
    redirect_uri: settings.redirectUri,
    client_id: settings.clientId,
    code_verifier: String(begun["verifier"]),
  });
  const headers: Record<string, string> = { accept: "application/json" };
  if (usesClientSecretPost && settings.clientSecret !== "") form.set("client_secret", settings.clientSecret);
  else if (settings.clientSecret !== "") {
    const credentials = [settings.clientId, settings.clientSecret].map(encodeURIComponent).join(":");
    headers["authorization"] = `Basic ${btoa(credentials)}`;
  }
  const answer = await fetchJson(
    settings,
    tokenEndpoint,
    // Another address must not get the code and the secret.
    { method: "POST", body: form, headers, redirect: "manual" },
    "the token endpoint",
  );
  const { id_token: idToken } = answer;
  if (typeof idToken !== "string")
    throw fail("the identity provider sent no ID token: add openid to the scope");
  const claims = await verifyIdToken(settings, issuer, jwksUri, idToken);
  if (claims["nonce"] !== begun["nonce"]) throw fail("the ID token belongs to another sign-in");
  const { access_token: accessToken } = answer;
  const subject = String(claims["sub"]);
  const needsUserInfo =
    claims["email"] === undefined &&
    !isKnownSubject(subject) &&
    userInfoEndpoint !== null &&
    typeof accessToken === "string";
  const info = needsUserInfo
    ? await fetchJson(
        settings,
        userInfoEndpoint,
        { headers: { authorization: `Bearer ${accessToken}` }, redirect: "manual" },
        "the user info endpoint",
      )
    : claims;
  // OpenID Connect Core 1.0, section 5.3.2: the subject must be the same.
  if (info["sub"] !== claims["sub"]) throw fail("the identity provider told of another person");
  const { email, email_verified: verified } = info;
  return {
    subject,
    email: typeof email === "string" ? toLowerCaseAscii(email.trim()) : "",
    // Some providers send the text "true".
    isEmailVerified: verified === true || verified === "true",
  };
}

/** The accepted signatures. Not HS256: every holder of the client's secret could sign with it. */
const ALGORITHMS = [
  ...["RS", "PS", "ES"].flatMap((family) => ["256", "384", "512"].map((size) => family + size)),
  "EdDSA",
  "Ed25519",
];

/** Verifies an ID token. The keys are read each time, so new ones work at once. */
async function verifyIdToken(
  settings: OidcSettings,
  issuer: string,
  jwksUri: string,
  idToken: string,
): Promise<JWTPayload> {
  const { clientId, now } = settings;
  const keys = await fetchJson(settings, jwksUri, { redirect: "manual" }, "the key endpoint");
  try {
    const payload = await verifySignature(idToken, keys, {
      issuer,
      audience: clientId,
      algorithms: ALGORITHMS,
      requiredClaims: ["sub", "exp", "iat"],
      clockTolerance: 60,
      currentDate: new Date(now),
    });
    if (typeof payload.sub !== "string" || payload.sub === "") throw fail("the ID token names nobody");
    // OpenID Connect Core 1.0, section 3.1.3.7, rule 5.
    if (payload["azp"] !== undefined && payload["azp"] !== clientId)
      throw fail("the ID token was issued for another client");
    return payload;
  } catch (error) {
    if (error instanceof GatewayError) throw error;
    const claim = error instanceof errors.JWTClaimValidationFailed ? `: ${error.claim}` : "";
    const reason =
      error instanceof errors.JOSEError ? `is not valid (${error.code}${claim})` : "cannot be checked";
    throw fail(`the ID token ${reason}`);
  }
}

/** Verifies a token with the key that it names, or with each key that fits. */
async function verifySignature(
  token: string,
  keys: JsonObject,
  options: JWTVerifyOptions,
): Promise<JWTPayload> {
  try {
    return (await jwtVerify(token, createLocalJWKSet({ keys: [], ...keys }), options)).payload;
  } catch (error) {
    if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error;
    for await (const key of error) {
      try {
        return (await jwtVerify(token, key, options)).payload;
      } catch (failed) {
        if (!(failed instanceof errors.JWSSignatureVerificationFailed)) throw failed;
      }
    }
    throw new errors.JWSSignatureVerificationFailed();
  }
}
