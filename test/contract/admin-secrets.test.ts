import { describe, expect, it } from "vitest";
import { ROUTES } from "../../src/routes.ts";
import { useAdmin } from "../support/use-admin.ts";

const ADMIN = "planted-admin-key-0123456789";
const KEY = "planted-api-key-0123456789";
const LEGACY_KEY = "planted-legacy-key-0123456789";
const TOKEN = "sandbox-token-planted-0123456789";
const PASSWORD = "planted-account-password-0123";
const PROXY_PASSWORD = "planted-proxy-password-0123";
const HOSTING_TOKEN = "planted-hosting-token-0123456";
const GUESS = "planted-wrong-guess-0123456789";
const NEW_PASSWORD = "planted-new-password-0123456";

const running = useAdmin({ vars: { ADMIN_KEY: ADMIN } });

const PLANTED = {
  keys: [LEGACY_KEY],
  api_keys: [{ key: KEY, name: "planted" }],
  accounts: [
    { token: TOKEN },
    { email: "one@sandbox.test", password: "sandbox" },
    { email: "wrong@sandbox.test", password: PASSWORD, proxy_id: "proxied" },
  ],
  proxies: [
    { id: "proxied", type: "http", host: "127.0.0.1", port: 9, username: "u", password: PROXY_PASSWORD },
  ],
  vercel: { token: HOSTING_TOKEN, project_id: "prj" },
  captures: { enabled: true },
};

/** Routes whose very purpose is to hand a secret to an administrator. */
const HANDS_OUT = new Set(["GET /admin/config/export", "GET /admin/export", "POST /admin/login"]);

const PARAMETERS: Readonly<Record<string, string>> = {
  key: encodeURIComponent(KEY),
  identifier: "one@sandbox.test",
  proxyID: "proxied",
  id: "none",
};

const BODIES: Readonly<Record<string, unknown>> = {
  "POST /admin/config": { model_aliases: { mine: "provider-v4-pro" } },
  "POST /admin/config/import": { accounts: [{ email: "one@sandbox.test", name: "n" }] },
  "PUT /admin/settings": { runtime: { account_max_inflight: 3 } },
  "POST /admin/keys": { key: KEY },
  "PUT /admin/keys/:key": { name: "renamed" },
  "POST /admin/proxies": { type: "http", host: "h", port: 1, password: PROXY_PASSWORD },
  "PUT /admin/proxies/:proxyID": { password: PROXY_PASSWORD },
  "POST /admin/proxies/test": { proxy_id: "proxied" },
  "POST /admin/accounts": { email: "one@sandbox.test", password: PASSWORD, token: TOKEN },
  "PUT /admin/accounts/:identifier": { remark: "seen" },
  "PUT /admin/accounts/:identifier/proxy": { proxy_id: "" },
  "POST /admin/accounts/test": { identifier: "wrong@sandbox.test", message: "hello" },
  "POST /admin/accounts/sessions/delete-all": { identifier: "wrong@sandbox.test" },
  "POST /admin/import": { keys: [KEY], accounts: [{ token: TOKEN }] },
  "POST /admin/test": { api_key: KEY, message: "[[echo]]" },
  "POST /admin/hosting/sync": { vercel_token: HOSTING_TOKEN, project_id: "prj" },
  "POST /admin/hosting/status": { config_override: PLANTED },
};

describe("secrets", () => {
  const heard: { readonly where: string; readonly text: string }[] = [];

  async function ask(where: string, path: string, init: RequestInit): Promise<number> {
    const response = await running.fetch(path, init);
    const headers = JSON.stringify([...response.headers]);
    heard.push({ where, text: `${headers}\n${await response.text()}` });
    return response.status;
  }

  const json = (method: string, body: unknown, credential: string): RequestInit => {
    const headers = { authorization: `Bearer ${credential}`, "content-type": "application/json" };
    return method === "GET" || method === "DELETE"
      ? { method, headers }
      : { method, headers, body: JSON.stringify(body) };
  };

  const chat = (where: string, key: string, text: string, extra: Record<string, string> = {}) => {
    const init = json(
      "POST",
      { model: "provider-v4-flash", messages: [{ role: "user", content: text }] },
      key,
    );
    return ask(where, "/v1/chat/completions", { ...init, headers: { ...init.headers, ...extra } });
  };

  it("are planted, and every admin endpoint is asked, rightly and wrongly", async () => {
    const { status } = await running.admin("POST", "/admin/config/import?mode=replace", PLANTED, ADMIN);
    expect(status).toBe(200);
    const login = await running.admin("POST", "/admin/login", { admin_key: ADMIN }, null);
    const jwt = String(login.body["token"]);

    for (const [name, credential] of [
      ["key", KEY],
      ["legacy key", LEGACY_KEY],
      ["pass-through token", TOKEN],
    ] as const) {
      expect(await chat(`chat with ${name}`, credential, "[[echo]]")).toBe(200);
    }
    const target = (id: string) => ({ "x-gateway-target-account": id });
    await chat("failing account", KEY, "hi", target("wrong@sandbox.test"));
    await chat("signed-in account", KEY, "hi", target("one@sandbox.test"));
    await chat("upstream error", KEY, "[[status:500:server_error]]", target("one@sandbox.test"));

    const admin = ROUTES.filter(({ path }) => path.startsWith("/admin/"));
    // What deletes comes last.
    const ordered = [...admin].sort(
      (one, other) => Number(one.endpoint.method === "DELETE") - Number(other.endpoint.method === "DELETE"),
    );
    for (const { path, endpoint } of ordered) {
      const { method, access } = endpoint;
      const name = `${method} ${path}`;
      if (HANDS_OUT.has(name) || name === "POST /admin/settings/password") continue;
      const real = path.replaceAll(/:(\w+)\+?/g, (_, parameter: string) => PARAMETERS[parameter] ?? "x");
      const credential = access === "token" ? jwt : ADMIN;
      if (method === "POST" || method === "PUT") {
        const wrong = { keys: [KEY], api_keys: [{ key: 7 }], accounts: KEY, password: 7, vercel_token: 7 };
        await ask(`${name}, wrong`, real, json(method, wrong, credential));
        await ask(`${name}, broken`, real, {
          ...json(method, {}, credential),
          body: `{"password":"${PASSWORD}"`,
        });
      }
      await ask(name, real, json(method, BODIES[name] ?? {}, credential));
    }
    await ask("wrong bearer", "/admin/settings", json("GET", null, GUESS));
    await ask("wrong login", "/admin/login", json("POST", { admin_key: GUESS }, GUESS));
    await ask("wrong method", `/admin/keys/${KEY}`, json("GET", null, ADMIN));
    await ask("path of no route", `/admin/keys/x/${KEY}`, json("GET", null, ADMIN));
    await ask("password", "/admin/settings/password", json("POST", { new_password: NEW_PASSWORD }, ADMIN));
    await ask("settings after", "/admin/settings", json("GET", null, NEW_PASSWORD));

    const logs = running.gateway.logs();
    expect(logs.length).toBeGreaterThan(50);
    heard.push({ where: "the log", text: logs.join("\n") });
    expect(heard.find(({ where }) => where === "the log")?.text).toContain('"path":"/admin/keys/…"');
    secrets.push(["the administrator's token", jwt]);
  });

  const secrets: (readonly [what: string, secret: string | RegExp])[] = [
    ["the admin key", ADMIN],
    ["an API key", KEY],
    ["a legacy key", LEGACY_KEY],
    ["an account's token", TOKEN],
    ["an account's password", PASSWORD],
    ["a proxy's password", PROXY_PASSWORD],
    ["the hosting token", HOSTING_TOKEN],
    ["a wrong guess", GUESS],
    ["the new password", NEW_PASSWORD],
    ["a password's hash", /pbkdf2-sha256\$/],
    ["a token from signing in", /sandbox\.[0-9a-f]{8,}\.\d+\.\d+/],
    ["the secret that signs tokens", /jwt_secret/],
  ];

  it("appear in no answer, no header, no error and no log line", () => {
    const leaks = heard.flatMap(({ where, text }) =>
      secrets
        .filter(([, secret]) => (typeof secret === "string" ? text.includes(secret) : secret.test(text)))
        .map(([what]) => `${what} in ${where}`),
    );
    expect(leaks).toEqual([]);
    expect(heard.length).toBeGreaterThan(60);
  });
});
