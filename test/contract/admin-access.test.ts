import { describe, expect, it } from "vitest";
import { askAsHost } from "../support/ask-as-host.ts";
import { ROUTES } from "../support/route-groups.ts";
import { type TestAdmin, useAdmin } from "../support/use-admin.ts";

const closed = useAdmin({ vars: { ADMIN_KEY: "" } });
const OWN_KEY = "a-key-of-ones-own";
const keyed = useAdmin({ vars: { ADMIN_KEY: OWN_KEY } });
const deployed = useAdmin({ vars: { ADMIN_KEY: OWN_KEY, GATEWAY_DEVELOPMENT: "" } });
const locked = useAdmin();
const { admin, fetch } = useAdmin();
/** Nothing in front of it vouches for an address. */
const direct = useAdmin({ vars: { CLIENT_ADDRESS_HEADER: "" } });

/** Where administrators sign in at an identity provider. */
const OIDC_PATHS = ["/admin/oidc", "/admin/oidc/start", "/admin/oidc/callback"];

const login = (body: unknown) => admin("POST", "/admin/login", body, null);

async function signIn(key = "admin"): Promise<string> {
  const { status, body } = await login({ admin_key: key });
  expect(status).toBe(200);
  return String(body["token"]);
}

const CONSOLE = "https://console.example";

/** Reads the configuration from a page of another origin: the status, and the origin whose scripts may read the answer. */
async function configFrom({ fetch: ask }: TestAdmin, credential: string) {
  const headers = { authorization: `Bearer ${credential}`, origin: CONSOLE };
  const response = await ask("/admin/config", { headers });
  await response.body?.cancel();
  return [response.status, response.headers.get("access-control-allow-origin")];
}

/** Signs in from a page of another origin. */
const signInFrom = ({ fetch: ask }: TestAdmin, key: string) =>
  ask("/admin/login", {
    method: "POST",
    headers: { "content-type": "application/json", origin: CONSOLE },
    body: JSON.stringify({ admin_key: key }),
  });

describe("a gateway in development", () => {
  it("refuses pages of other origins in the admin API only, and not its own pages or tools", async () => {
    const asks = async (path: string, origin?: string) => {
      const headers = { authorization: "Bearer admin", ...(origin === undefined ? {} : { origin }) };
      const response = await fetch(path, { headers });
      await response.body?.cancel();
      return response.status;
    };
    const own = new URL((await fetch("/healthz")).url).origin;
    expect(await asks("/admin/queue/status")).toBe(200);
    expect(await asks("/admin/queue/status", own)).toBe(200);
    for (const origin of ["https://elsewhere.example", "null", own.replace(/\d+$/, "1")]) {
      expect(await asks("/admin/queue/status", origin)).toBe(403);
      expect(await asks("/v1/models", origin)).toBe(200);
    }
    expect((await signInFrom(locked, "admin")).status).toBe(403);
  });

  it("allows pages of other origins with an own admin key (rule 4)", async () => {
    expect(await configFrom(keyed, OWN_KEY)).toEqual([200, CONSOLE]);
    expect(await configFrom(keyed, "admin")).toEqual([401, CONSOLE]);
    const response = await signInFrom(keyed, OWN_KEY);
    expect(response.headers.get("access-control-allow-origin")).toBe(CONSOLE);
    expect(await response.json()).toMatchObject({ success: true });
  });

  it("allows pages of other origins once a password is set, unless it is the well-known one (rule 4)", async () => {
    const set = (password: string, credential: string) =>
      locked.admin("POST", "/admin/settings/password", { new_password: password }, credential);
    expect((await set("a password of one's own", "admin")).status).toBe(200);
    expect(await configFrom(locked, "a password of one's own")).toEqual([200, CONSOLE]);
    expect(await configFrom(locked, "admin")).toEqual([401, CONSOLE]);
    expect((await signInFrom(locked, "a password of one's own")).status).toBe(200);
    expect((await set("admin", "a password of one's own")).status).toBe(200);
    expect(await configFrom(locked, "admin")).toEqual([403, CONSOLE]);
  });
});

describe("a name that a web page has rebound to this machine", () => {
  const LOCAL = ["localhost:8787", "app.localhost", "127.0.0.1:8787", "[::1]:8787", "192.168.1.20:8787"];
  const REBOUND = ["evil.example:8787", "localhost.evil.example", "gateway"];
  const hello = { model: "provider-v4-flash", messages: [{ role: "user", content: "hello" }] };
  const chat = (app: TestAdmin, host: string, key = "sk-dev") =>
    askAsHost(`${app.gateway.url}/v1/chat/completions`, { host, key, method: "POST", body: hello });
  const read = (app: TestAdmin, host: string, key = "admin", path = "/admin/config") =>
    askAsHost(`${app.gateway.url}${path}`, { host, key });

  it.each(LOCAL)("is not %s: the development keys work there", async (host) => {
    expect(await read(direct, host)).toMatchObject({ status: 200 });
    expect(await chat(direct, host)).toMatchObject({ status: 200 });
  });

  it.each(REBOUND)("may be %s: the development keys are refused there, with an explanation", async (host) => {
    for (const path of ["/admin/config", "/admin/version", "/admin/no-such"]) {
      const { status, text } = await read(direct, host, "admin", path);
      expect([status, JSON.parse(text)]).toEqual([403, { detail: expect.stringContaining("localhost") }]);
    }
    const signIn = { host, key: "", method: "POST", body: { admin_key: "admin" } };
    expect(await askAsHost(`${direct.gateway.url}/admin/login`, signIn)).toMatchObject({ status: 403 });
    const { status, text } = await chat(direct, host);
    expect([status, JSON.parse(text)]).toMatchObject([403, { error: { code: "permission_denied" } }]);
    expect(text).toContain("localhost");
  });

  it("is harmless with own keys, and open endpoints answer there", async () => {
    expect(await read(keyed, "gateway.example", OWN_KEY)).toMatchObject({ status: 200 });
    expect(await chat(keyed, "gateway.example")).toMatchObject({ status: 403 });
    const added = await keyed.admin("POST", "/admin/keys", { key: "sk-of-ones-own" }, OWN_KEY);
    expect(added.status).toBe(200);
    expect(await chat(keyed, "gateway.example", "sk-of-ones-own")).toMatchObject({ status: 200 });
    expect(await read(direct, "gateway.example", "", "/v1/models")).toMatchObject({ status: 200 });
  });

  it("is accepted by a deployment", async () => {
    const key = { api_keys: [{ key: "sk-dev" }] };
    expect((await deployed.admin("POST", "/admin/config", key, OWN_KEY)).status).toBe(200);
    expect(await read(deployed, "gateway.example", OWN_KEY)).toMatchObject({ status: 200 });
    expect((await chat(deployed, "gateway.example")).status).not.toBe(403);
  });
});

describe("POST /admin/login", () => {
  it("answers success, a JWT and its lifetime of 24 hours", async () => {
    const { status, body } = await login({ admin_key: "admin" });
    expect(status).toBe(200);
    expect(body).toMatchObject({ success: true, expires_in: 86_400 });
    expect(String(body["token"]).split(".")).toHaveLength(3);
  });

  it("obeys expire_hours", async () => {
    const { body } = await login({ admin_key: "admin", expire_hours: 0.5 });
    expect(body["expires_in"]).toBe(1_800);
    const verified = await admin("GET", "/admin/verify", undefined, String(body["token"]));
    expect(Number(verified.body["remaining_seconds"])).toBeLessThanOrEqual(1_800);
    expect(Number(verified.body["remaining_seconds"])).toBeGreaterThan(1_700);
  });

  it.each([
    [{}, "admin_key"],
    [{ admin_key: "admin", expire_hours: 0 }, "expire_hours"],
    [{ admin_key: "admin", expire_hours: -1 }, "expire_hours"],
    [{ admin_key: "admin", expire_hours: 1e9 }, "expire_hours"],
    [{ admin_key: "admin", expire_hours: "24" }, "expire_hours"],
    [{ admin_key: 7 }, "admin_key"],
  ])("refuses %j and names the field", async (body, field) => {
    const answer = await login(body);
    expect(answer.status).toBe(400);
    expect(answer.body["detail"]).toContain(field);
  });

  it("refuses a wrong key with 401 and a detail", async () => {
    const answer = await login({ admin_key: "wrong" });
    expect(answer).toEqual({ status: 401, body: { detail: "the admin key or password is wrong" } });
  });

  it("answers 400 `invalid json` for a body that is not JSON", async () => {
    const response = await fetch("/admin/login", { method: "POST", body: "{" });
    expect(response.status).toBe(400);
    expect(await response.json()).toEqual({ detail: expect.stringContaining("invalid json") });
  });

  it("names the missing ADMIN_KEY secret", async () => {
    const answer = await closed.admin("POST", "/admin/login", { admin_key: "admin" }, null);
    expect(answer.status).toBe(403);
    expect(answer.body["detail"]).toContain("set the ADMIN_KEY secret");
  });
});

describe("the pause after ten failed sign-ins", () => {
  const headers = ["cf-connecting-ip", "x-forwarded-for", "x-real-ip", "true-client-ip"];

  it("applies in development for any address that the client states", async () => {
    let status = 401;
    let attempt = 0;
    // Each pause is twice as long as the one before, so that a slow machine meets one of them, too.
    while (status === 401 && attempt < 25) {
      attempt += 1;
      const claimed = Object.fromEntries(headers.map((name) => [name, `203.0.113.${attempt}`]));
      const response = await direct.fetch("/admin/login", {
        method: "POST",
        headers: { "content-type": "application/json", ...claimed },
        body: JSON.stringify({ admin_key: `guess-${attempt}` }),
      });
      await response.body?.cancel();
      status = response.status;
    }
    expect(status).toBe(429);
    expect(attempt).toBeGreaterThan(10);
  });
});

describe("GET /admin/verify", () => {
  it("tells validity, end and remaining time of a JWT", async () => {
    const { status, body } = await admin("GET", "/admin/verify", undefined, await signIn());
    expect(status).toBe(200);
    expect(body).toMatchObject({ valid: true });
    const left = Number(body["expires_at"]) - Date.now() / 1000;
    expect(Math.abs(left - Number(body["remaining_seconds"]))).toBeLessThan(5);
  });

  it.each([["admin"], ["eyJhbGciOiJIUzI1NiJ9.e30.AAAA"]])(
    "refuses %s, which is no valid JWT",
    async (credential) => {
      const { status, body } = await admin("GET", "/admin/verify", undefined, credential);
      expect([status, typeof body["detail"]]).toEqual([401, "string"]);
    },
  );

  it("refuses a token that has expired", async () => {
    const { body } = await login({ admin_key: "admin", expire_hours: 1 / 3600 });
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    const answer = await admin("GET", "/admin/verify", undefined, String(body["token"]));
    expect(answer).toEqual({ status: 401, body: { detail: "the token has expired: sign in again" } });
  });

  it("refuses an unsigned token", async () => {
    const [, payload] = (await signIn()).split(".");
    const none = `${btoa('{"alg":"none"}').replaceAll("=", "")}.${payload}.AAAA`;
    expect((await admin("GET", "/admin/verify", undefined, none)).status).toBe(401);
  });
});

describe("every admin route", () => {
  const routes = ROUTES.filter(({ path }) => path.startsWith("/admin/"));

  it("declares that it needs a credential, but for the login", () => {
    const open = routes.filter(({ endpoint: { access } }) => access !== "admin" && access !== "token");
    expect(open.map(({ path, endpoint }) => `${endpoint.method} ${path}`)).toEqual([
      "POST /admin/login",
      ...OIDC_PATHS.map((path) => `GET ${path}`),
    ]);
    expect(routes.length).toBeGreaterThan(40);
  });

  it.each(
    routes
      .filter(({ path }) => path !== "/admin/login" && !OIDC_PATHS.includes(path))
      .map(({ path, endpoint }) => [endpoint.method, path] as const),
  )("answers 401 with a detail to %s %s without a credential", async (method, path) => {
    const target = path.replaceAll(/:\w+\+?/g, "x");
    const answer = await admin(method, target, method === "GET" ? undefined : {}, null);
    expect(answer.status).toBe(401);
    expect(Object.keys(answer.body)).toEqual(["detail"]);
  });

  it("opens to the admin key and to a JWT", async () => {
    for (const credential of ["admin", await signIn()]) {
      expect((await admin("GET", "/admin/settings", undefined, credential)).status).toBe(200);
    }
  });

  it("answers 405 with Allow for a wrong method, and 404 for an unknown path, both with a detail", async () => {
    const wrong = await fetch("/admin/queue/status", { method: "DELETE" });
    expect([wrong.status, wrong.headers.get("allow")]).toEqual([405, "GET, HEAD, OPTIONS"]);
    expect(Object.keys(Object(await wrong.json()))).toEqual(["detail"]);
    expect((await admin("GET", "/admin/nothing/here")).status).toBe(404);
  });
});

describe("a deployment whose configuration comes from a trial", () => {
  const warning = async ({ admin: ask }: TestAdmin, key: string) => {
    const { body } = await ask("GET", "/admin/settings", undefined, key);
    return Object(body["callers"])["development_key_warning"];
  };
  const ask = (method: string, path: string, body?: unknown) => deployed.admin(method, path, body, OWN_KEY);

  it("warns of the known API key until it is disabled or deleted, also if its digest alone is stored", async () => {
    const { body } = await admin("GET", "/admin/config/export");
    expect(await warning(keyed, OWN_KEY)).toBe(false);
    await ask("POST", "/admin/config", { api_keys: [] });
    expect(await warning(deployed, OWN_KEY)).toBe(false);
    expect((await ask("POST", "/admin/config/import", JSON.parse(String(body["json"])))).status).toBe(200);
    expect(await warning(deployed, OWN_KEY)).toBe(true);
    await ask("PUT", "/admin/keys/sk-dev", { disabled: true });
    expect(await warning(deployed, OWN_KEY)).toBe(false);
    await ask("PUT", "/admin/keys/sk-dev", { disabled: false });
    await ask("PUT", "/admin/settings", { callers: { keys_hashed: true } });
    expect(await warning(deployed, OWN_KEY)).toBe(true);
    await ask("DELETE", "/admin/keys/sk-dev");
    expect(await warning(deployed, OWN_KEY)).toBe(false);
  });
});

// The last one: its pause concerns all later requests.
describe("guessing", () => {
  it("is slowed with 429, without Retry-After, and a token still works meanwhile", async () => {
    const token = await signIn();
    const answers: number[] = [];
    for (let guess = 0; guess < 14; guess += 1) {
      answers.push((await login({ admin_key: `guess-${guess}` })).status);
    }
    expect(answers.slice(0, 9).every((status) => status === 401)).toBe(true);
    expect(answers.at(-1)).toBe(429);
    const refused = await fetch("/admin/settings", { headers: { authorization: "Bearer another-guess" } });
    expect(refused.status).toBe(429);
    expect(refused.headers.get("retry-after")).toBeNull();
    expect(await refused.json()).toEqual({ detail: expect.stringMatching(/try again in \d+ s/) });
    expect((await admin("GET", "/admin/settings", undefined, token)).status).toBe(200);
  });
});
