import { describe, expect, it } from "vitest";
import { useAdmin } from "../support/use-admin.ts";

const { admin, chat } = useAdmin();

const PROVIDER = { id: "p", driver: "openai", base_url: "https://provider.test/v1" };
const NOT_A_TOKEN = "token: must be printable ASCII, without control characters";

describe("API keys", () => {
  it("are added, used at once, renamed and deleted, by key or by id", async () => {
    const odd = "sk/odd key+%20ü";
    const path = `/admin/keys/${encodeURIComponent(odd)}`;
    const added = await admin("POST", "/admin/keys", { key: odd, name: "odd", remark: "r" });
    expect(added).toEqual({
      status: 200,
      body: { success: true, total_keys: 2, id: expect.any(String) },
    });
    await admin("POST", "/admin/keys", { key: "sk-plain-0123456789" });
    expect((await chat("hi", {}, { authorization: "Bearer sk-plain-0123456789" })).status).toBe(200);

    expect(await admin("PUT", path, { remark: "changed" })).toEqual({
      status: 200,
      body: { success: true, total_keys: 3 },
    });
    const { body } = await admin("GET", "/admin/config");
    const keys = Object(body["api_keys"]);
    expect(keys[1]).toMatchObject({ id: added.body["id"], name: "odd", remark: "changed" });
    expect(keys[2].key).toBe("sk-p****6789");

    expect((await admin("DELETE", `/admin/keys/${keys[2].id}`)).body).toEqual({
      success: true,
      total_keys: 2,
    });
    expect((await admin("DELETE", path)).body).toEqual({ success: true, total_keys: 1 });
  });

  it("are generated if none is sent, shown once, listed, and rotated with a grace period", async () => {
    const works = async (key: string) => (await chat("hi", {}, { authorization: `Bearer ${key}` })).status;
    const listed = async () => Object((await admin("GET", "/admin/keys?q=made")).body).items;
    const before = Date.now();
    const made = await admin("POST", "/admin/keys", { name: "made here" });
    const first = String(made.body["key"]);
    expect(first).toMatch(/^sk-[\w-]{43}$/);
    expect(made).toMatchObject({
      status: 200,
      body: { success: true, total_keys: 2, id: expect.any(String) },
    });
    expect(await works(first)).toBe(200);
    const [{ created, ...view }] = await listed();
    expect(created).toBeGreaterThanOrEqual(before);
    expect(view).toMatchObject({ id: made.body["id"], name: "made here", grace_until: 0, hashed: false });
    expect(view.key).toBe(`${first.slice(0, 4)}****${first.slice(-4)}`);

    const path = `/admin/keys/${made.body["id"]}`;
    const rotated = await admin("POST", `${path}/rotate`);
    const second = String(rotated.body["key"]);
    expect(rotated.body).toMatchObject({ success: true, total_keys: 2, id: made.body["id"] });
    expect([await works(first), await works(second)]).toEqual([200, 200]);
    expect(await listed()).toMatchObject([
      { id: made.body["id"], created, grace_until: rotated.body["grace_until"] },
    ]);
    expect((await admin("POST", "/admin/keys", { key: first })).status).toBe(409);

    const own = "sk-chosen-by-an-administrator";
    const again = await admin("POST", `${path}/rotate`, { key: own, grace_seconds: 0 });
    expect(again.body).not.toHaveProperty("key");
    expect([await works(first), await works(second), await works(own)]).toEqual([401, 401, 200]);
    expect((await admin("DELETE", path)).body).toMatchObject({ total_keys: 1 });
  });

  it("keep a past expiry and an unknown style that an import or an edit sends back", async () => {
    const entry = { key: "sk-old-0123456789", expires: 1_000, dialects: ["earlier"] };
    expect(
      (await admin("POST", "/admin/config/import", { config: { api_keys: [entry] }, mode: "merge" })).status,
    ).toBe(200);
    const path = `/admin/keys/${entry.key}`;
    const { key: _, ...same } = entry;
    expect((await admin("PUT", path, { ...same, remark: "renamed" })).status).toBe(200);
    const valid = {
      expires: Date.now() + 60_000,
      dialects: ["chat-completions", "files", "embeddings", "pages"],
    };
    expect((await admin("PUT", path, valid)).status).toBe(200);
    expect((await admin("PUT", path, { expires: 0, dialects: [] })).status).toBe(200);
    expect((await admin("DELETE", path)).status).toBe(200);
  });

  it("can be stored as digests only, and still work, are listed and deleted", async () => {
    const secret = "sk-hashed-0123456789";
    await admin("POST", "/admin/keys", { key: secret, name: "hashed" });
    expect((await admin("PUT", "/admin/settings", { callers: { keys_hashed: true } })).status).toBe(200);
    const exported = await admin("GET", "/admin/config/export");
    const kept = Object(exported.body["config"]).api_keys;
    expect(exported.body["json"]).not.toContain(secret);
    await admin("PUT", "/admin/settings", { callers: { keys_hashed: false } });

    expect((await chat("hi", {}, { authorization: `Bearer ${secret}` })).status).toBe(200);
    expect(await admin("POST", "/admin/test", {})).toMatchObject({ body: { success: true } });
    expect((await admin("POST", "/admin/keys", { key: secret })).status).toBe(409);
    const { body } = await admin("GET", "/admin/config");
    expect(body["api_keys"]).toMatchObject([{}, { key: "****6789", name: "hashed", hashed: true }]);
    expect((await admin("POST", "/admin/config", body)).status).toBe(200);
    expect((await admin("GET", "/admin/config/export")).body["config"]).toMatchObject({ api_keys: kept });
    expect((await admin("DELETE", `/admin/keys/${secret}`)).body).toEqual({ success: true, total_keys: 1 });
    await admin("DELETE", "/admin/keys/sk-dev");
    await admin("POST", "/admin/keys", { key: "sk-dev" });
  });

  it("have at most 512 characters, so that a path can name them", async () => {
    const key = "k".repeat(512);
    for (const [path, body] of [
      ["/admin/keys", { key: `${key}k` }],
      ["/admin/import", { keys: [`${key}k`] }],
    ] as const) {
      const answer = await admin("POST", path, body);
      expect(answer).toMatchObject({
        status: 400,
        body: { detail: expect.stringContaining("512 characters") },
      });
    }
    expect((await admin("POST", "/admin/keys", { key })).status).toBe(200);
    expect((await admin("DELETE", `/admin/keys/${key}`)).status).toBe(200);
  });

  it.each([
    ["query.sise", { sise: "og" }, {}],
    ["query.width", { width: "wide" }, {}],
    ["query.headers", { headers: "x-a: b" }, {}],
    ["query.url", { url: "http://10.0.0.1/" }, {}],
    ["query.webhook", { async: true, webhook: "https://example.com/" }, {}],
    ["query.size", { size: "og" }, { operation: "technologies" }],
    ["key", {}, { key: "sk-of-chats-0123456789" }],
  ])("sign no link to the page service that could never work, for its %s: %j", async (field, query, body) => {
    await admin("POST", "/admin/keys", { key: "sk-of-chats-0123456789", dialects: ["embeddings"] });
    const sign = (options: object, more: object) =>
      admin("POST", "/admin/page-links", {
        ...{ key: "sk-dev", query: { url: "https://example.com/", ...options }, ...more },
      });
    const refused = await sign(query, body);
    expect([refused.status, String(refused.body["detail"]).split(":")[0]]).toEqual([400, field]);
    const signed = await sign({ size: "og", scripts: ["1"], async: true }, {});
    expect([signed.status, signed.body["path"]]).toEqual([200, expect.stringContaining("&signature=")]);
  });

  it("have a budget that 20 requests at once cannot overshoot by more than one of them", async () => {
    const path = "/admin/keys/sk-small-0123456789";
    await admin("POST", "/admin/keys", { key: "sk-small-0123456789", name: "small" });
    const limits = { tokens_per_month: 1, requests_per_minute: 1_000 };
    expect((await admin("PUT", path, { limits })).status).toBe(200);
    const ask = () => chat("hi", {}, { authorization: "Bearer sk-small-0123456789" });
    const answers = await Promise.all(Array.from({ length: 20 }, ask));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(19).fill(429)]);
    const refused = answers.find(({ status }) => status === 429);
    expect(refused?.headers.get("x-ratelimit-limit-requests")).toBe("1000");
    expect(refused?.headers.get("retry-after")).toBeNull();
    expect(await refused?.json()).toMatchObject({
      error: { code: "insufficient_quota", details: { limit: "tokens_per_month" } },
    });
    expect(await admin("PUT", path, { networks: ["nowhere"] })).toMatchObject({ status: 400 });
    await admin("DELETE", path);
  });

  it.each([
    ["POST", "/admin/keys", { key: "" }, 400, "key"],
    ["POST", "/admin/keys/nothing/rotate", {}, 404, "does not exist"],
    ["POST", "/admin/keys/sk-dev/rotate", { grace_seconds: -1 }, 400, "grace_seconds"],
    ["POST", "/admin/keys/sk-dev/rotate", { key: "sk-dev" }, 409, "exists already"],
    ["POST", "/admin/keys", { key: "  " }, 400, "key"],
    ["POST", "/admin/keys", { key: "sk-dev" }, 409, "exists already"],
    ["POST", "/admin/keys", { key: "sk-\u0000-zero" }, 400, "control characters"],
    ["POST", "/admin/keys", { key: "sk-d****0123" }, 400, "mask"],
    ["POST", "/admin/accounts", { email: "half\ud800@x", password: "p" }, 400, "surrogate"],
    ["POST", "/admin/import", { accounts: [{ token: "two\nlines" }] }, 400, NOT_A_TOKEN],
    ["POST", "/admin/import", { accounts: [{ token: "tok\u00fc" }] }, 400, NOT_A_TOKEN],
    ["POST", "/admin/providers", { ...PROVIDER, token: "two\nlines" }, 400, NOT_A_TOKEN],
    ["POST", "/admin/test", { api_key: "sk-\u0000-zero" }, 400, "api_key"],
    ["POST", "/admin/test", { api_key: "sk-\u20ac" }, 400, "api_key"],
    ["POST", "/admin/keys", { name: "x", limits: { requests_a_minute: 1 } }, 400, "requests_a_minute"],
    [
      "PUT",
      "/admin/keys/sk-dev",
      { limits: { requests_per_minute: 99_999_999_999 } },
      400,
      "api_keys[0].limits.requests_per_minute: must be at most 1000000000",
    ],
    ["POST", "/admin/keys", { name: "x", disable: true }, 400, "disable"],
    ["PUT", "/admin/keys/sk-dev", { limits: { request_per_minute: 1 } }, 400, "request_per_minute"],
    ["POST", "/admin/accounts", { email: "a@x.test", password: "p", wieght: 5 }, 400, "wieght"],
    ["PUT", "/admin/accounts/one@sandbox.test", { wieght: 5 }, 400, "wieght"],
    [
      "POST",
      "/admin/keys",
      { name: "x", dialects: ["messages", "chat"] },
      400,
      'dialects: there is no API style "chat"',
    ],
    ["PUT", "/admin/keys/sk-dev", { dialects: ["chat"] }, 400, 'dialects: there is no API style "chat"'],
    ["POST", "/admin/keys", { name: "x", expires: 1_900_000_000 }, 400, "expires: this time is past"],
    ["PUT", "/admin/keys/sk-dev", { expires: 1_900_000_000 }, 400, "expires: this time is past"],
    ["PUT", "/admin/keys/nothing", { name: "x" }, 404, "does not exist"],
    ["PUT", "/admin/keys/sk-dev", { name: 7 }, 400, "name"],
    ["DELETE", "/admin/keys/nothing", undefined, 404, "does not exist"],
  ] as const)("%s %s %j is a %i", async (method, path, body, status, reason) => {
    const answer = await admin(method, path, body);
    expect(answer.status).toBe(status);
    expect(answer.body["detail"]).toContain(reason);
  });
});

describe("proxies", () => {
  it("are created with an id if they have none, listed without password, changed and deleted", async () => {
    const created = await admin("POST", "/admin/proxies", {
      name: "one",
      type: "socks5",
      host: "proxy.test",
      port: 1080,
      username: "u",
      password: "proxy-password",
    });
    expect(created.status).toBe(200);
    const { id } = Object(created.body);
    expect(created.body).toEqual({
      id,
      name: "one",
      type: "socks5",
      host: "proxy.test",
      port: 1080,
      username: "u",
      has_password: true,
    });

    const list = await admin("GET", "/admin/proxies");
    expect(list.body).toEqual({ items: [created.body], total: 1 });

    const changed = await admin("PUT", `/admin/proxies/${id}`, { name: "two", port: 1081, password: "" });
    expect(changed.body).toMatchObject({
      id,
      name: "two",
      port: 1081,
      host: "proxy.test",
      has_password: true,
    });
    const { config } = Object((await admin("GET", "/admin/config/export")).body);
    expect(config.proxies[0].password).toBe("proxy-password");

    await admin("PUT", "/admin/accounts/one@sandbox.test/proxy", { proxy_id: id });
    await admin("PUT", "/admin/accounts/two@sandbox.test/proxy", { proxy_id: id });
    const deleted = await admin("DELETE", `/admin/proxies/${id}`);
    expect(deleted.body).toEqual({ success: true, unbound_accounts: 2, total_proxies: 0 });
    const accounts = Object((await admin("GET", "/admin/accounts")).body);
    expect(accounts.items.map(({ proxy_id }: { proxy_id: string }) => proxy_id)).toEqual(["", "", ""]);
    expect((await chat("hi")).status).toBe(200);
  });

  it.each([
    ["POST", "/admin/proxies", { type: "ftp", host: "h", port: 1 }, 400, "type"],
    ["POST", "/admin/proxies", { type: "http", host: "", port: 1 }, 400, "host"],
    ["POST", "/admin/proxies", { type: "http", host: "h", port: 0 }, 400, "port"],
    ["POST", "/admin/proxies", { type: "http", host: "h", port: 70_000 }, 400, "port"],
    ["POST", "/admin/proxies", { type: "http", host: "http://proxy.test", port: 1 }, 400, "host"],
    ["POST", "/admin/proxies", { type: "http", host: "proxy.test:8080", port: 1 }, 400, "host"],
    ["POST", "/admin/proxies", { type: "http", host: "user@proxy.test", port: 1 }, 400, "host"],
    ["POST", "/admin/proxies/test", { type: "http", host: "http://proxy.test/", port: 1 }, 400, "host"],
    ["POST", "/admin/proxies", { type: "http", host: "h", port: 1, pasword: "p" }, 400, "pasword"],
    ["POST", "/admin/proxies", { id: "a/b", type: "http", host: "h", port: 1 }, 400, "id: an id has 1 to 64"],
    ["PUT", "/admin/proxies/none", { name: "x" }, 404, "does not exist"],
    ["DELETE", "/admin/proxies/none", undefined, 404, "does not exist"],
  ] as const)("%s %s %j is a %i", async (method, path, body, status, reason) => {
    const answer = await admin(method, path, body);
    expect(answer.status).toBe(status);
    expect(answer.body["detail"]).toContain(reason);
  });

  it("may be called by an IPv6 address, with brackets or without", async () => {
    for (const host of ["[::1]", "2001:db8::1"]) {
      const { status, body } = await admin("POST", "/admin/proxies", { type: "http", host, port: 8080 });
      expect([status, body["host"]]).toEqual([200, host]);
      await admin("DELETE", `/admin/proxies/${body["id"]}`);
    }
  });

  it("may be created with an id, which must be new", async () => {
    const proxy = { id: "mine", type: "http", host: "h", port: 8080 };
    expect((await admin("POST", "/admin/proxies", proxy)).body["id"]).toBe("mine");
    expect((await admin("POST", "/admin/proxies", proxy)).status).toBe(409);
    await admin("DELETE", "/admin/proxies/mine");
  });
});
