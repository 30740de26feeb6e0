import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from "jose";
import { describe, expect, it } from "vitest";
import { ISSUER, METADATA, useIdentityProvider } from "./identity-provider.ts";

const startGateway = useIdentityProvider();
const { publicKey, privateKey } = await generateKeyPair("ES256");
const KEYS = { keys: [{ ...(await exportJWK(publicKey)), alg: "ES256", use: "sig" }] };

/** What an identity provider answers at the paths of its endpoints. */
interface Answers {
  readonly metadata?: object;
  readonly claims?: JWTPayload;
  readonly token?: () => Response;
  readonly keys?: () => Response;
}

/** A body without an end. */
const endless = () =>
  new Response(
    new ReadableStream({
      pull: (controller) => controller.enqueue(new TextEncoder().encode(" ".repeat(65_536))),
    }),
  );

/** Signs in at an identity provider with these answers. Returns where the browser is sent in the end. */
async function signIn({ metadata = {}, claims = {}, token, keys }: Answers) {
  const administrators = [
    { id: "ada", role: "owner" as const, oidc_subject: "ada-1" },
    { id: "grace", role: "viewer" as const, email: "grace@example.com" },
    { id: "kim", role: "viewer" as const, email: "kim@example.com" },
  ];
  let nonce = "";
  const redirects: (string | undefined)[] = [];
  const createToken = async () => {
    const now = Math.floor(Date.now() / 1000);
    const payload = { iss: ISSUER, aud: "polygate", sub: "ada-1", iat: now, exp: now + 60, nonce, ...claims };
    const jwt = new SignJWT(payload).setProtectedHeader({ alg: "ES256" });
    return Response.json({ id_token: await jwt.sign(privateKey), access_token: "a" });
  };
  const ask = await startGateway(async (url, init) => {
    const { pathname } = new URL(url);
    if (pathname === "/keys") return keys?.() ?? Response.json(KEYS);
    if (pathname !== "/token") return Response.json({ ...METADATA, ...metadata });
    redirects.push(init?.redirect);
    return token?.() ?? createToken();
  }, administrators);
  const get = (path: string, headers = {}) => ask(`https://gateway.test${path}`, "192.0.2.1", headers);
  const start = await get("/admin/oidc/start");
  if (start.status !== 302) return { location: `${start.status}`, redirects, get };
  const { searchParams } = new URL(start.headers.get("location") ?? "");
  nonce = searchParams.get("nonce") ?? "";
  const cookie = start.headers.get("set-cookie")?.split(";")[0] ?? "";
  const end = await get(`/admin/oidc/callback?code=c&state=${searchParams.get("state")}`, { cookie });
  const location = decodeURIComponent((end.headers.get("location") ?? "").replaceAll("+", " "));
  return { location, redirects, get };
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

  it("does not let others write on the page of the sign-in", async () => {
    const { get } = await signIn({});
    const error = encodeURIComponent("Your session was stolen. Call 555-0100 now.");
    const end = await get(`/admin/oidc/callback?error=${error}&state=s`);
    expect(end.headers.get("location")).not.toContain("555");
    const refused = await get("/admin/oidc/callback?error=access_denied&state=s");
    expect(refused.headers.get("location")).toContain("access_denied");
  });
});
