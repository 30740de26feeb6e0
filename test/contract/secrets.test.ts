import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ECHO_FORMS, EchoUpstream } from "../support/echo-upstream.ts";
import { ROUTES } from "../support/route-groups.ts";
import { until } from "../support/until.ts";
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
const UPSTREAM_TOKEN = "planted-upstream-token-01234";

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

const echo = await EchoUpstream.start(UPSTREAM_TOKEN);
afterAll(() => echo.close());

const echoed = useAdmin({
  vars: {
    ADMIN_KEY: ADMIN,
    PROVIDER_DRIVER: "sessions",
    PROVIDER_BASE_URL: echo.url,
    HOSTING_API_BASE_URL: `${echo.url}/hosting`,
    RELEASES_URL: `${echo.url}/release`,
    PAGE_PRIVATE_HOSTS: `127.0.0.1:${echo.port}`,
  },
  secrets: [UPSTREAM_TOKEN],
});

describe("a provider, a proxy and a hosting platform that repeat all credentials in their errors", () => {
  const FORMS = Object.keys(ECHO_FORMS);
  const ask = (text: string, account: string, extra: Record<string, unknown> = {}) =>
    echoed.chat(text, extra, { authorization: `Bearer ${KEY}`, "x-gateway-target-account": account });
  const said = async (response: Response) => {
    const text = await response.text();
    expect(text).toContain("[masked]");
    return response.status;
  };

  beforeAll(async () => {
    const proxy = {
      type: "http",
      host: "127.0.0.1",
      port: echo.port,
      username: "me",
      password: PROXY_PASSWORD,
    };
    const { status } = await echoed.admin(
      "POST",
      "/admin/config/import?mode=replace",
      {
        api_keys: [{ key: KEY }],
        accounts: [
          { email: "good@echo.test", password: PASSWORD },
          { email: "proxied@echo.test", token: TOKEN, proxy_id: "echo" },
          ...FORMS.map((form) => ({ email: `${form}@echo.test`, password: PASSWORD })),
        ],
        proxies: [{ id: "echo", ...proxy }],
        captures: { enabled: true, limit: 100 },
      },
      ADMIN,
    );
    expect(status).toBe(200);
  });

  it.each(FORMS)("hides a password that a failed sign-in repeats, %s", async (form) => {
    expect(await said(await ask("hi", `${form}@echo.test`))).toBe(503);
    const { body } = await echoed.admin(
      "POST",
      "/admin/accounts/test",
      { identifier: `${form}@echo.test` },
      ADMIN,
    );
    expect(body).toMatchObject({ success: false, message: expect.stringContaining("[masked]") });
  });

  it.each(FORMS)("hides the account's token, %s", async (form) => {
    expect(await said(await ask(`form=${form} status=400`, "good@echo.test"))).toBe(400);
    expect(await said(await ask(`form=${form} status=500`, "good@echo.test", { stream: true }))).toBe(503);
    expect(await said(await ask(`form=${form}`, "good@echo.test"))).toBe(503);
    expect(await said(await ask(`form=${form}`, "good@echo.test", { stream: true }))).toBe(200);
  });

  it.each(FORMS)("hides the caller's own token, %s", async (form) => {
    const headers = { authorization: `Bearer ${GUESS}` };
    expect(await said(await echoed.chat(`form=${form} status=400`, {}, headers))).toBe(400);
    const inQuery = await echoed.post(
      `/v1beta/models/provider-v4-flash:generateContent?key=${GUESS}`,
      { contents: [{ role: "user", parts: [{ text: `form=${form}` }] }] },
      { authorization: "" },
    );
    expect(await said(inQuery)).toBe(503);
  });

  it("hides the credentials of a proxy that fails", async () => {
    expect(await said(await ask("hi", "proxied@echo.test"))).toBe(503);
    const { body } = await echoed.admin("POST", "/admin/proxies/test", { proxy_id: "echo" }, ADMIN);
    expect(body).toMatchObject({ status_code: 502 });
  });

  it("hides what was sent to the hosting platform", async () => {
    const { status, body } = await echoed.admin(
      "POST",
      "/admin/hosting/sync",
      { vercel_token: HOSTING_TOKEN, project_id: "prj", auto_validate: false, save_credentials: true },
      ADMIN,
    );
    expect([status, body["detail"]]).toEqual([400, expect.stringContaining("[masked]")]);
    // The configuration did go there: the test would see nothing otherwise.
    const sent = echo.heard.find(({ path }) => path.startsWith("/hosting/"))?.body ?? "";
    const { value }: { value: string } = JSON.parse(sent);
    expect(Buffer.from(value, "base64").toString()).toContain(KEY);
  });

  it("sends each credential only where it belongs", async () => {
    const login = await echoed.admin("POST", "/admin/login", { admin_key: ADMIN }, null);
    const jwt = String(login.body["token"]);
    await echoed.admin("GET", "/admin/version", undefined, ADMIN);
    for (const mistaken of [ADMIN, jwt]) {
      const response = await echoed.chat("hi", {}, { authorization: `Bearer ${mistaken}` });
      expect(response.status).toBe(401);
      await response.body?.cancel();
    }
    const picture = { type: "image_url", image_url: { url: `${echo.url}/picture.png` } };
    const messages = [{ role: "user", content: [{ type: "text", text: "status=400" }, picture] }];
    await (await ask("", "good@echo.test", { model: "provider-v4-vision", messages })).text();
    const everywhere = (path: RegExp, ...secrets: string[]) =>
      echo.heard
        .filter((heard) => path.test(heard.path))
        .flatMap(({ path: asked, headers, body }) =>
          secrets
            .filter((secret) => `${asked}${headers}${body}`.includes(secret))
            .map((secret) => `${secret} to ${asked}`),
        );
    expect(echo.heard.map(({ path }) => path)).toEqual(expect.arrayContaining(["/release", "/picture.png"]));
    expect(
      everywhere(/^\/(?:release|picture)/, KEY, ADMIN, jwt, TOKEN, UPSTREAM_TOKEN, PASSWORD, "authorization"),
    ).toEqual([]);
    expect(everywhere(/^\/api\//, KEY, ADMIN, jwt, PROXY_PASSWORD, HOSTING_TOKEN)).toEqual([]);
    expect(everywhere(/^http:/, KEY, ADMIN, jwt, PASSWORD, HOSTING_TOKEN)).toEqual([]);
  });

  it("stores no secret in captures, samples, history, metrics, views and the log", async () => {
    const list = await until(
      () => echoed.admin("GET", "/admin/dev/captures", undefined, ADMIN),
      ({ body }) => JSON.stringify(body).includes('"status":502'),
    );
    const ids = JSON.stringify(list.body).match(/cap_\w+/g) ?? [];
    expect(new Set(ids).size).toBeGreaterThan(20);
    for (const id of new Set(ids)) await echoed.admin("GET", `/admin/dev/captures/${id}`, undefined, ADMIN);
    await echoed.admin("POST", "/admin/dev/raw-samples/save", { query: "form=", sample_id: "echo" }, ADMIN);
    const { body: history } = await echoed.admin("GET", "/admin/chat-history", undefined, ADMIN);
    const records = JSON.stringify(history).match(/hist_\w+/g) ?? [];
    expect(records.length).toBeGreaterThan(10);
    for (const path of [
      ...records.map((id) => `/admin/chat-history/${id}`),
      "/admin/dev/raw-samples/echo",
      "/admin/dev/raw-samples/query?q=form",
      "/admin/accounts",
      "/admin/config",
      "/admin/settings",
      "/admin/proxies",
      "/admin/queue/status",
      "/admin/hosting/config",
    ]) {
      expect((await echoed.admin("GET", path, undefined, ADMIN)).status).toBe(200);
    }
    for (const path of ["/admin/metrics", "/openapi.json", "/admin", "/"]) {
      const response = await echoed.fetch(path, { headers: { authorization: `Bearer ${ADMIN}` } });
      expect(response.status).toBe(200);
    }
    expect(echoed.gateway.leaks()).toEqual([]);
  });
});
