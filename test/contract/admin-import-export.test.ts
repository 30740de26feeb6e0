import { beforeEach, describe, expect, it } from "vitest";
import { useAdmin } from "../support/use-admin.ts";

const running = useAdmin();
const { admin, chat } = running;

const exported = async () => Object(await admin("GET", "/admin/config/export")).body;
const importing = (body: unknown, query = "") => admin("POST", `/admin/config/import${query}`, body);

const START = {
  api_keys: [{ key: "sk-dev", name: "development", remark: "" }],
  accounts: [{ email: "one@sandbox.test", password: "sandbox" }],
  auto_delete: { mode: "none" },
};

beforeEach(async () => {
  const { status } = await importing({ config: START, mode: "replace" });
  expect(status).toBe(200);
});

describe("GET /admin/config/export and /admin/export", () => {
  it("carries the same content as an object, as JSON and as base64, with the sync's hash and time", async () => {
    const body = await exported();
    expect(JSON.parse(body.json)).toEqual(body.config);
    expect(Buffer.from(body.base64, "base64").toString("utf8")).toBe(body.json);
    expect(body.config.sync).toEqual({ hash: "", time: 0 });
    const short = await admin("GET", "/admin/export");
    expect(short.body).toEqual({ json: body.json, base64: body.base64 });
  });

  it("comes back whole when it is imported", async () => {
    await importing({
      accounts: [{ email: "ümläut+%@sandbox.test", password: "sandbox", remark: "名前" }],
      runtime: { account_max_inflight: 7 },
      model_aliases: { mine: "provider-v4-pro" },
    });
    const before = await exported();
    await importing({ config: START, mode: "replace" });
    expect((await exported()).config).not.toEqual(before.config);
    await importing(before.config, "?mode=replace");
    expect((await exported()).config).toEqual(before.config);
    await importing({ config: START, mode: "replace" });
    await importing({ ...before, mode: "replace" });
    expect((await exported()).config).toEqual(before.config);
  });

  it("comes back whole in its short form, and within a wrapper", async () => {
    await importing({ keys: ["sk-more-0123456789"], model_aliases: { mine: "provider-v4-pro" } });
    const { config } = await exported();
    const { body } = await admin("GET", "/admin/export");
    for (const sent of [body, { base64: body["base64"] }, { config: body }, { config: body["json"] }]) {
      await importing({ config: START, mode: "replace" });
      expect((await importing(sent, "?mode=replace")).body).toMatchObject({ success: true, total_keys: 2 });
      expect((await exported()).config).toEqual(config);
    }
  });

  it("does not contain the secret that signs tokens", async () => {
    await admin("POST", "/admin/login", { admin_key: "admin" }, null);
    expect((await exported()).json).not.toContain("jwt_secret");
  });
});

describe("POST /admin/config/import, merge", () => {
  it("is the default, and combines keys, api_keys, accounts and aliases", async () => {
    await importing({ model_aliases: { one: "provider-v4-pro" } });
    const answer = await importing({
      keys: ["sk-plain"],
      api_keys: [
        { key: "sk-dev", remark: "seen" },
        { key: "sk-named", name: "n" },
      ],
      accounts: [
        { email: "ONE@sandbox.test", name: "first" },
        { mobile: "13800000000", password: "sandbox" },
        { token: "sandbox-token-a" },
      ],
      model_aliases: { two: "provider-v4-flash" },
    });
    expect(answer.body).toMatchObject({ success: true, mode: "merge", total_keys: 3, total_accounts: 3 });
    const { config } = await exported();
    expect(config.api_keys).toEqual([
      { key: "sk-dev", name: "development", remark: "seen" },
      { key: "sk-named", name: "n", remark: "" },
      { key: "sk-plain", name: "", remark: "" },
    ]);
    expect(config.accounts[0]).toMatchObject({ password: "sandbox", name: "first" });
    expect(config.model_aliases).toEqual({ one: "provider-v4-pro", two: "provider-v4-flash" });
    expect((await chat("hi", {}, { authorization: "Bearer sk-plain" })).status).toBe(200);
  });

  it("overwrites non-empty fields of admin, runtime, responses and embeddings, and only those", async () => {
    await importing({
      runtime: { account_max_inflight: 5, account_max_queue: 9 },
      embeddings: { provider: "local" },
    });
    await importing({
      runtime: { account_max_inflight: 6, account_max_queue: 0 },
      admin: { jwt_expire_hours: 2 },
      responses: { store_ttl_seconds: 60 },
      embeddings: { provider: "" },
    });
    const { config } = await exported();
    expect(config.runtime).toMatchObject({ account_max_inflight: 6, account_max_queue: 9 });
    expect(config.admin.jwt_expire_hours).toBe(2);
    expect(config.responses.store_ttl_seconds).toBe(60);
    expect(config.embeddings.provider).toBe("local");
  });

  it("does not touch auto_delete and current_input_file, and ignores compat and toolcall", async () => {
    const before = (await exported()).config;
    const { status } = await importing({
      auto_delete: { mode: "all" },
      current_input_file: { enabled: false, min_chars: 1 },
      compat: { wide_input_strict_output: true },
      toolcall: { mode: "off" },
    });
    expect(status).toBe(200);
    expect((await exported()).config).toEqual(before);
  });

  it("brings the proxies that imported accounts are bound to", async () => {
    const proxy = (id: string) => ({ id, type: "http", host: "h", port: 1 });
    await importing({
      accounts: [{ email: "two@sandbox.test", password: "sandbox", proxy_id: "p1" }],
      proxies: [proxy("p1"), proxy("p2")],
    });
    expect((await exported()).config.proxies.map(({ id }: { id: string }) => id)).toEqual(["p1"]);
  });
});

describe("POST /admin/config/import, replace", () => {
  it("swaps everything but the metadata of the hosting sync, and keeps administrators signed in", async () => {
    const { body } = await admin("POST", "/admin/login", { admin_key: "admin" }, null);
    await importing({ keys: ["sk-only"], sync: { hash: "other", time: 5 } }, "?mode=replace&confirm=true");
    const { config } = await exported();
    expect(config.keys).toEqual(["sk-only"]);
    expect(config.accounts).toEqual([]);
    expect(config.sync).toEqual({ hash: "", time: 0 });
    expect((await admin("GET", "/admin/verify", undefined, String(body["token"]))).status).toBe(200);
  });

  it("ends older tokens when the import brings another password", async () => {
    const { body } = await admin("POST", "/admin/login", { admin_key: "admin" }, null);
    const hash = "pbkdf2-sha256$1$AAAA$AAAA";
    await importing({ config: { ...START, admin: { password_hash: hash } }, mode: "replace" });
    const answers = await Promise.all([
      admin("GET", "/admin/verify", undefined, String(body["token"])),
      admin("GET", "/admin/settings"),
    ]);
    await running.gateway.reset();
    expect(answers.map(({ status }) => status)).toEqual([401, 401]);
  });
});

describe("POST /admin/config/import?dry_run=true", () => {
  it("answers the configuration that would be, its secrets masked, and changes nothing", async () => {
    const before = await exported();
    const change = { keys: ["sk-tried-0123456789"], runtime: { account_max_inflight: 9 } };
    const tried = await importing(change, "?dry_run=true");
    expect(tried.body).toMatchObject({
      success: true,
      dry_run: true,
      mode: "merge",
      config: { keys: expect.arrayContaining(["sk-t****6789"]), runtime: { account_max_inflight: 9 } },
      changes: expect.arrayContaining([{ path: "runtime.account_max_inflight", before: "2", after: "9" }]),
      more: 0,
    });
    expect(JSON.stringify(tried.body)).not.toMatch(/sk-tried-0123456789|"password":"[^*"]/);
    expect(await exported()).toEqual(before);
    await importing(change);
    const { config } = await exported();
    expect(config).toMatchObject({ runtime: { account_max_inflight: 9 }, accounts: before.config.accounts });
    expect(config.keys).toContain("sk-tried-0123456789");
  });
});

describe("POST /admin/config/import?mode=replace", () => {
  const ACCOUNT = { email: "one@sandbox.test", password: "sandbox" };

  it.each([
    ["a mistyped wrapper", { configuration: START }, "configuration"],
    ["a group that is not known", { ...START, api_key: [] }, "api_key"],
    ["a group of that kind within a wrapper", { config: { ...START, acounts: [] } }, "acounts"],
    ["a masked key", { ...START, api_keys: [{ key: "sk-d****0123" }] }, "api_keys[0].key"],
    ["a mask among the plain keys", { ...START, keys: ["sk-plain", "****"] }, "keys[1]"],
    [
      "a mask in the place of a password",
      { ...START, accounts: [{ ...ACCOUNT, password: "****" }] },
      "accounts[0]",
    ],
    ["a masked account", { ...START, accounts: [{ ...ACCOUNT, has_password: true }] }, "accounts[0]"],
    ["no account", { keys: ["sk-dev"] }, "confirm"],
    ["no key", { accounts: [ACCOUNT] }, "confirm"],
    ["nothing", {}, "confirm"],
  ])("refuses %s and changes nothing", async (_, body, reason) => {
    const before = await exported();
    const answer = await importing(body, "?mode=replace");
    expect(answer.status).toBe(400);
    expect(answer.body["detail"]).toContain(reason);
    expect(await exported()).toEqual(before);
  });

  it("refuses the masked view, also in the other mode", async () => {
    const { body } = await admin("GET", "/admin/config");
    const before = await exported();
    for (const mode of ["merge", "replace"]) {
      const answers = [await importing(body, `?mode=${mode}`), await importing({ config: body, mode })];
      expect(answers.map(({ status }) => status)).toEqual([400, 400]);
    }
    expect(await exported()).toEqual(before);
  });

  it("deletes all accounts only if this is confirmed, which a dry run states", async () => {
    const config = { keys: ["sk-dev"] };
    const tried = await importing({ config, mode: "replace" }, "?dry_run=true");
    expect(tried.body).toMatchObject({
      success: true,
      confirm_needed: expect.stringContaining("account"),
      removed: [{ path: "accounts", names: expect.arrayContaining(["one@sandbox.test"]) }],
    });
    expect((await importing({ config, mode: "replace", confirm: true })).status).toBe(200);
    expect((await exported()).config.accounts).toEqual([]);
    expect((await importing({ config, mode: "replace" })).status).toBe(200);
  });
});

const PROXY = { id: "p", type: "http", host: "h", port: 1 };
const BOUND = { email: "two@sandbox.test", password: "sandbox", proxy_id: "p" };

describe("POST /admin/config/import with an invalid body", () => {
  it.each([
    [[], "object"],
    [{}, "nothing to import"],
    [{ config: 7 }, "object"],
    [{ config: START, mode: "overwrite" }, "mode"],
    [{ runtime: { account_max_inflight: 0 } }, "runtime.account_max_inflight"],
    [{ proxies: [{ id: "p", type: "ftp", host: "h", port: 1 }] }, "proxies[0].type"],
    [{ accounts: [{ email: 1 }] }, "accounts[0].email"],
    [{ model_aliases: { a: "nothing" } }, "model_aliases.a"],
    [{ proxies: [PROXY, PROXY], accounts: [{ ...BOUND }] }, "proxies[1].id"],
    [{ proxies: [{ ...PROXY, host: "http://h" }], accounts: [{ ...BOUND }] }, "proxies[0].host"],
    [{ json: "{" }, "json"],
  ])("refuses %j with an explanation, and changes nothing", async (body, reason) => {
    const before = await exported();
    const answer = await importing(body);
    expect(answer.status).toBe(400);
    expect(answer.body["detail"]).toContain(reason);
    expect(await exported()).toEqual(before);
  });
});

describe("a change by an administrator", () => {
  const audit = async (query = "") => Object((await admin("GET", `/admin/audit${query}`)).body);
  const versions = async () => Object((await admin("GET", "/admin/config/versions")).body).items;

  it("is recorded with author, address, time and fields, without secrets", async () => {
    const before = Date.now();
    const { body } = await admin("POST", "/admin/login", { admin_key: "admin" }, null);
    const token = String(body["token"]);
    await admin("PUT", "/admin/settings", { runtime: { account_max_queue: 321 } }, token);
    await admin("POST", "/admin/keys", { key: "sk-recorded-0123456789", name: "recorded" });
    const { items, total } = await audit("?page_size=2");
    expect(total).toBeGreaterThan(2);
    expect(items).toMatchObject([
      { who: "key", action: "POST /admin/keys", more: 0 },
      {
        who: expect.stringMatching(/^token:[\da-f]{8}$/),
        address: expect.any(String),
        action: "PUT /admin/settings",
        changes: [{ path: "runtime.account_max_queue", before: "0", after: "321" }],
      },
    ]);
    expect(items[0].at).toBeGreaterThanOrEqual(before);
    expect(JSON.stringify(items)).not.toContain("sk-recorded-0123456789");
    const mine = await audit(`?who=${items[1].who}&action=settings&q=321&since=${before}`);
    expect(mine).toMatchObject({ total: 1, page: 1, total_pages: 1, items: [items[1]] });
    expect((await audit(`?until=${before - 60_000_000}`)).total).toBe(0);
    expect((await admin("GET", "/admin/audit?since=yesterday")).status).toBe(400);
    await admin("PUT", "/admin/settings", { runtime: { account_max_queue: 321 } });
    expect((await audit()).items[0].id).toBe(items[0].id);
    await admin("DELETE", "/admin/chat-history");
    expect((await audit()).items[0]).toMatchObject({ action: "DELETE /admin/chat-history", version: 0 });
  });

  it("can be undone if it replaced the configuration", async () => {
    await importing({ model_aliases: { mine: "provider-v4-pro" } });
    const before = await exported();
    await importing({ config: { keys: ["sk-other-0123456789"], accounts: START.accounts }, mode: "replace" });
    const [kept] = await versions();
    expect(kept).toMatchObject({ action: "POST /admin/config/import", who: "key", keys: 1, accounts: 1 });

    const tried = await admin("POST", "/admin/config/restore", { version: kept.version, dry_run: true });
    expect(tried.body).toMatchObject({ success: true, restored_version: kept.version });
    expect(JSON.stringify(tried.body["changes"])).toContain("model_aliases.mine");
    expect((await exported()).config.keys).toEqual(["sk-other-0123456789"]);

    const restored = await admin("POST", "/admin/config/restore", { version: kept.version });
    expect(restored.body).toMatchObject({ success: true, total_keys: 1, total_accounts: 1 });
    expect((await exported()).config).toEqual(before.config);
    expect((await versions())[0]).toMatchObject({ action: "POST /admin/config/restore" });
    expect((await versions()).length).toBeLessThanOrEqual(20);
    expect((await admin("POST", "/admin/config/restore", { version: 999_999 })).status).toBe(404);
  });

  it("is refused if it is based on an outdated version", async () => {
    const send = (method: string, path: string, body: unknown, tag: string) =>
      running.gateway.fetch(path, {
        method,
        headers: { authorization: "Bearer admin", "if-match": tag },
        body: JSON.stringify(body),
      });
    const read = await running.gateway.fetch("/admin/config", { headers: { authorization: "Bearer admin" } });
    await read.body?.cancel();
    const tag = read.headers.get("etag") ?? "";
    expect(tag).toMatch(/^"\d+"$/);
    const changed = await send("POST", "/admin/config", { keys: ["sk-dev", "sk-first-0123456789"] }, tag);
    expect(changed.status).toBe(200);
    expect(changed.headers.get("etag")).not.toBe(tag);
    await changed.body?.cancel();
    const before = await exported();
    for (const [method, path, body] of [
      ["POST", "/admin/config", { keys: ["sk-second-0123456789"] }],
      ["POST", "/admin/config/import", { keys: ["sk-third-0123456789"] }],
      ["PUT", "/admin/settings", { runtime: { account_max_queue: 5 } }],
    ] as const) {
      const stale = await send(method, path, body, tag);
      expect([stale.status, await stale.json()]).toEqual([
        412,
        { detail: expect.stringContaining("read it again") },
      ]);
    }
    expect(await exported()).toEqual(before);
    const any = await send("POST", "/admin/config", { keys: ["sk-dev"] }, "*");
    expect(any.status).toBe(200);
    await any.body?.cancel();
  });
});
