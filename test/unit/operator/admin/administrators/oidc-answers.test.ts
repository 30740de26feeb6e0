import { decodeJwt, exportJWK, generateKeyPair, type JWTPayload, SignJWT } from "jose";
import { describe, expect, it } from "vitest";
import { ISSUER, METADATA, useIdentityProvider } from "./identity-provider.ts";

const startGateway = useIdentityProvider();
const { publicKey, privateKey } = await generateKeyPair("ES256");
const OTHER_KEY = { ...(await exportJWK((await generateKeyPair("ES256")).publicKey)), alg: "ES256" };
const KEYS = { keys: [{ ...(await exportJWK(publicKey)), alg: "ES256", use: "sig" }] };

/** What an identity provider answers at the paths of its endpoints. */
interface Answers {
  readonly metadata?: object;
  readonly claims?: JWTPayload;
  readonly token?: () => Response;
  readonly keys?: () => Response;
  readonly info?: () => Response;
  readonly alg?: string;
  readonly signingKey?: CryptoKey;
  /** More settings of the gateway. */
  readonly settings?: object;
}

/** A body without an end. */
const endless = () =>
  new Response(
    new ReadableStream({
      pull: (controller) => controller.enqueue(new TextEncoder().encode(" ".repeat(65_536))),
    }),
  );

/** Signs in at an identity provider with these answers. Returns where the browser is sent in the end. */
async function signIn(answers: Answers) {
  const { metadata = {}, claims = {}, token, keys, info, settings } = answers;
  const { alg = "ES256", signingKey = privateKey } = answers;
  const administrators = [
    { id: "ada", role: "owner" as const, oidc_subject: "ada-1" },
    { id: "grace", role: "viewer" as const, email: "grace@example.com" },
    { id: "kim", role: "viewer" as const, email: "kim@example.com" },
    { id: "lin", role: "viewer" as const, email: "kim@example.com", oidc_subject: "lin-1" },
  ];
  let nonce = "";
  const redirects: (string | undefined)[] = [];
  const asked: { readonly body: URLSearchParams; readonly authorization: string | null }[] = [];
  const createToken = async () => {
    const now = Math.floor(Date.now() / 1000);
    const payload = { iss: ISSUER, aud: "polygate", sub: "ada-1", iat: now, exp: now + 60, nonce, ...claims };
    const jwt = new SignJWT(payload).setProtectedHeader({ alg });
    return Response.json({ id_token: await jwt.sign(signingKey), access_token: "a" });
  };
  const ask = await startGateway(
    async (url, init) => {
      const { pathname } = new URL(url);
      if (pathname === "/keys") return keys?.() ?? Response.json(KEYS);
      if (pathname === "/info") return info?.() ?? Response.json({});
      if (pathname !== "/token") return Response.json({ ...METADATA, ...metadata });
      redirects.push(init?.redirect);
      const authorization = new Headers(init?.headers).get("authorization");
      asked.push({ body: new URLSearchParams(String(init?.body)), authorization });
      return token?.() ?? createToken();
    },
    administrators,
    settings,
  );
  const get = (path: string, headers = {}) => ask(`https://gateway.test${path}`, "192.0.2.1", headers);
  const start = await get("/admin/oidc/start");
  if (start.status !== 302) return { location: `${start.status}`, redirects, asked, get };
  const { searchParams } = new URL(start.headers.get("location") ?? "");
  nonce = searchParams.get("nonce") ?? "";
  const cookie = start.headers.get("set-cookie")?.split(";")[0] ?? "";
  const end = await get(`/admin/oidc/callback?code=c&state=${searchParams.get("state")}`, { cookie });
  const location = decodeURIComponent((end.headers.get("location") ?? "").replaceAll("+", " "));
  return { location, redirects, asked, get };
}

describe("an identity provider", () => {
  it("signs an administrator in", async () => {
    const { location, redirects } = await signIn({});
    expect(location).toMatch(/^\/admin#signed_in=/);
    // Another address must not get the code and the secret.
    expect(redirects).toEqual(["manual"]);
  });

  it.each([
    ["that was issued for another client of the audience", { aud: ["polygate", "other"], azp: "other" }],
    ["for nobody in particular", { sub: "" }],
    ["for another client", { aud: "other" }],
    ["of another issuer", { iss: "https://other.test" }],
    ["that has expired", { exp: 1 }],
    ["of another sign-in", { nonce: "other" }],
  ])("is not believed with a token %s", async (_, claims) => {
    expect((await signIn({ claims })).location).toMatch(/^\/admin#sign_in_failed=/);
  });

  it.each([
    ["GRACE@example.com", true],
    // The Kelvin sign, whose lower case is k.
    ["\u212aim@example.com", false],
    ["kim@example.com", true],
  ])("knows an administrator by the address %s: %s", async (email, isKnown) => {
    const { location } = await signIn({ claims: { sub: "another", email, email_verified: true } });
    expect(location.startsWith("/admin#signed_in=")).toBe(isKnown);
  });

  it("knows an administrator by the subject rather than by the address", async () => {
    const claims = { sub: "lin-1", email: "kim@example.com", email_verified: true };
    const { location } = await signIn({ claims });
    const token = new URLSearchParams(location.split("#")[1]).get("signed_in") ?? "";
    expect(decodeJwt(token)).toMatchObject({ administrator: "lin" });
  });

  it("does not get the long name of a stranger into a header", async () => {
    const { location } = await signIn({ claims: { sub: "x".repeat(100_000) } });
    expect(location).toMatch(/^\/admin#sign_in_failed=.*x{100} is no administrator/);
    expect(location.length).toBeLessThan(1_000);
  });

  it.each([
    ["token_endpoint", "http://id.test/token"],
    ["jwks_uri", "data:application/json,{}"],
    ["userinfo_endpoint", "file:///etc/hosts"],
  ])("is not asked at %s %s", async (name, address) => {
    expect((await signIn({ metadata: { [name]: address } })).location).toBe("400");
  });

  it.each(["token", "keys"] as const)("does not fill the memory with its answer: %s", async (endpoint) => {
    expect((await signIn({ [endpoint]: endless })).location).toMatch(/^\/admin#sign_in_failed=/);
  });

  const INFO = { userinfo_endpoint: `${ISSUER}/info` };
  const down = () => new Response("<html>down</html>", { status: 503 });

  it.each<[string, Answers, string]>([
    ["keys", { keys: down }, "the key endpoint answered 503"],
    ["keys", { keys: () => Response.error() }, "the key endpoint answered 0"],
    [
      "no keys",
      { keys: () => Response.json({ keys: "none" }) },
      "the ID token is not valid (ERR_JWKS_INVALID)",
    ],
    ["code", { token: down }, "the token endpoint answered 503"],
    ["code", { token: () => new Response("<html>") }, "the token endpoint sent no JSON object"],
    ["code", { token: () => Response.json([]) }, "the token endpoint sent no JSON object"],
    [
      "user",
      { metadata: INFO, claims: { sub: "grace-1" }, info: down },
      "the user info endpoint answered 503",
    ],
    ["audience", { claims: { aud: "other" } }, "(ERR_JWT_CLAIM_VALIDATION_FAILED: aud)"],
    ["time", { claims: { nbf: 9_999_999_999 } }, "(ERR_JWT_CLAIM_VALIDATION_FAILED: nbf)"],
  ])("says what failed: %s", async (_, answers, reason) => {
    const { location } = await signIn(answers);
    expect(location).toMatch(/^\/admin#sign_in_failed=/);
    expect(location).toContain(reason);
  });

  it.each<[string, Answers]>([
    [
      "two keys without ids, while they are rotated",
      { keys: () => Response.json({ keys: [OTHER_KEY, ...KEYS.keys] }) },
    ],
    [
      "a key that the gateway cannot read",
      { keys: () => Response.json({ keys: [{ kty: "new" }, ...KEYS.keys] }) },
    ],
    ["no user info, for an administrator with a subject", { metadata: INFO, info: down }],
    [
      "an address that is verified in words",
      { claims: { sub: "x", email: "grace@example.com", email_verified: "true" } },
    ],
    [
      "an address in the user info",
      {
        metadata: INFO,
        claims: { sub: "x" },
        info: () => Response.json({ sub: "x", email: "grace@example.com", email_verified: true }),
      },
    ],
    ["groups", { claims: { groups: "one", roles: { deep: [["x".repeat(100_000)]] } } }],
  ])("signs an administrator in with %s", async (_, answers) => {
    expect((await signIn(answers)).location).toMatch(/^\/admin#signed_in=/);
  });

  it.each(["RS384", "RS512", "PS384", "PS512", "ES512", "Ed25519"])("can sign with %s", async (alg) => {
    const pair = await generateKeyPair(alg);
    const jwk = await exportJWK(pair.publicKey);
    const keys = () => Response.json({ keys: [{ ...jwk, use: "sig" }] });
    const { location } = await signIn({ alg, keys, signingKey: pair.privateKey });
    expect(location).toMatch(/^\/admin#signed_in=/);
  });

  it.each<[string, object]>([
    ["a list of addresses", { email: ["grace@example.com"], email_verified: true }],
    ["nested claims", { email: { value: "grace@example.com" }, email_verified: { value: true } }],
    ["an address that is not verified", { email: "grace@example.com", email_verified: "false" }],
    ["an address verified by a number", { email: "grace@example.com", email_verified: 1 }],
    ["an address with a mark", { email: "grace@example.com\u0000", email_verified: true }],
    ["line breaks", { sub: "a\r\nset-cookie: x=y\ud83d", email: 7 }],
    ["no address", { email: "", email_verified: true }],
  ])("does not sign in somebody with %s", async (_, claims) => {
    const { location } = await signIn({ claims: { sub: "another", ...claims } });
    expect(location).toMatch(/^\/admin#sign_in_failed=/);
  });

  it("is not believed with another type of subject", async () => {
    const claims: object = { sub: 7 };
    expect((await signIn({ claims: { ...claims } })).location).toContain("sign_in_failed");
  });

  it.each([
    [{}, "basic"],
    [{ token_endpoint_auth_methods_supported: ["client_secret_post", "client_secret_basic"] }, "basic"],
    [{ token_endpoint_auth_methods_supported: ["client_secret_post"] }, "post"],
    [{ token_endpoint_auth_methods_supported: "client_secret_post" }, "basic"],
    [{ token_endpoint_auth_methods_supported: ["private_key_jwt"] }, "basic"],
  ])("gets the secret of the client in a way that it supports: %j", async (metadata, method) => {
    const settings = { client_secret: "s & t" };
    const { asked, location } = await signIn({ metadata, settings });
    expect(location).toMatch(/^\/admin#signed_in=/);
    const basic = `Basic ${btoa("polygate:s%20%26%20t")}`;
    expect(asked.map(({ body, authorization }) => [body.get("client_secret"), authorization])).toEqual([
      method === "post" ? ["s & t", null] : [null, basic],
    ]);
  });

  it("brings a browser back to the console if it cannot be asked", async () => {
    const { location, get } = await signIn({ metadata: { issuer: "https://other.test" } });
    expect(location).toBe("400");
    const start = await get("/admin/oidc/start", { "sec-fetch-mode": "navigate" });
    expect([start.status, start.headers.get("location")]).toEqual([
      302,
      expect.stringMatching(/^\/admin#sign_in_failed=.*another\+issuer/),
    ]);
  });

  it("does not let others write on the page of the sign-in", async () => {
    const { get } = await signIn({});
    const error = encodeURIComponent("Your session was stolen. Call 555-0100 now.");
    const end = await get(`/admin/oidc/callback?error=${error}&state=s`);
    expect(end.headers.get("location")).not.toContain("555");
    const refused = await get("/admin/oidc/callback?error=access_denied&state=s");
    expect(refused.headers.get("location")).toContain("access_denied");
  });
});
