import { beforeEach, describe, expect, it } from "vitest";
import { isObject, type JsonObject } from "../../../../src/core/encoding/json.ts";
import { useMemoryGateway } from "../../../support/memory-gateway.ts";
import { accountNamed } from "../../../support/memory-platform.ts";

const make = useMemoryGateway();
const LATER = { colour: "red", limits: { requests_per_minute: 9, smiles_per_day: 3 } };
const SWEET = { context: 10, taste: "sweet" };
const BACKEND = { id: "one", driver: "openai", base_url: "https://backend.test" };

let call: (method: string, path: string, body?: unknown) => Promise<{ status: number; body: JsonObject }>;

beforeEach(async () => {
  const gateway = await make({
    env: { ADMIN_KEY: "admin" },
    config: {
      keys: [],
      api_keys: [{ key: "sk-later-0123456789", name: "later", remark: "", ...LATER }],
      accounts: [accountNamed("a@x.test")],
      proxies: [
        { id: "p", name: "P", type: "http", host: "proxy.test", port: 1, username: "", password: "" },
      ],
      providers: [{ ...BACKEND, token: "t", models: { m: SWEET } }],
      alerts: {
        webhooks: [{ id: "w", url: "https://hooks.test/secret", secret: `whsec_${"a".repeat(32)}` }],
      },
    },
  });
  call = async (method, path, body) => {
    const response = await gateway.request(path, {
      method,
      headers: { authorization: "Bearer admin", "content-type": "application/json" },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const answer: unknown = await response.json();
    return { status: response.status, body: isObject(answer) ? answer : {} };
  };
});

const exported = async (): Promise<unknown> => (await call("GET", "/admin/config/export")).body["config"];
const firstOf = async (path: string): Promise<JsonObject> => {
  const { items } = (await call("GET", path)).body;
  const first: unknown = Array.isArray(items) ? items.at(-1) : null;
  return isObject(first) ? first : {};
};

describe("a field that there is not", () => {
  it.each([
    [
      "POST",
      "/admin/keys",
      { limits: { requests_a_minute: 1 } },
      'limits: there is no field "requests_a_minute"',
    ],
    ["POST", "/admin/keys", { expire: 1 }, "expire"],
    ["PUT", "/admin/keys/sk-later-0123456789", { limits: { request_per_minute: 1 } }, "request_per_minute"],
    ["PUT", "/admin/keys/sk-later-0123456789", { network: ["192.0.2.1"] }, "network"],
    ["POST", "/admin/keys/sk-later-0123456789/rotate", { grace_second: 0 }, "grace_second"],
    ["POST", "/admin/config", { api_keys: [{ key: "sk-n", limits: { cost: 1 } }] }, "api_keys[0].limits"],
    ["POST", "/admin/config", { accounts: [{ email: "b@x", wieght: 2 }] }, "wieght"],
    ["POST", "/admin/config", { keys: ["sk-n"], model_aliase: {} }, "model_aliase"],
    ["POST", "/admin/accounts", { email: "b@x", password: "p", wieght: 5 }, "wieght"],
    ["PUT", "/admin/accounts/a@x.test", { wieght: 5 }, "wieght"],
    ["PUT", "/admin/accounts/a@x.test", { proxy_id: "p" }, "proxy_id"],
    ["PUT", "/admin/accounts/a@x.test/proxy", { proxy_id: "p", proxi: "q" }, "proxi"],
    ["POST", "/admin/accounts/bulk", { action: "enable", identifiers: ["a@x.test"], proxy: "p" }, "proxy"],
    ["POST", "/admin/accounts/test-all", { identifier: ["a@x.test"] }, "identifier"],
    ["POST", "/admin/proxies", { type: "http", host: "h", port: 1, user: "u" }, "user"],
    ["PUT", "/admin/proxies/p", { pasword: "x" }, "pasword"],
    ["POST", "/admin/proxies/test", { proxy_id: "p", tarjet: "https://x.test" }, "tarjet"],
    ["PUT", "/admin/alerts", { webhooks: [{ id: "w", disable: true }] }, "disable"],
    ["PUT", "/admin/alerts", { rules: { budget: { treshold: 1 } } }, "treshold"],
    ["PUT", "/admin/alerts", { rule: {} }, "rule"],
    [
      "POST",
      "/admin/providers",
      { ...BACKEND, id: "two", account_max_in_flight: 1 },
      "account_max_in_flight",
    ],
    ["PUT", "/admin/providers/one", { enable: false }, "enable"],
    ["PUT", "/admin/providers/one", { models: { m: { contxt: 1 } } }, "contxt"],
    ["PUT", "/admin/providers/one", { models: { m: { price: { inptu: 1 } } } }, "inptu"],
    ["PUT", "/admin/providers/one/models/m", { price: { inptu: 1 } }, "inptu"],
    ["PUT", "/admin/settings", { prices: { m: { inptu: 1 } } }, "inptu"],
    ["PUT", "/admin/settings", { model_routes: { best: [{ model: "one/m", wieght: 1 }] } }, "wieght"],
    ["PUT", "/admin/chat-history/settings", { limit: 10, limits: 1 }, "limits"],
    ["POST", "/admin/page-links", { key: "sk-later-0123456789", query: {}, expire_in: 1 }, "expire_in"],
    ["POST", "/admin/config/restore", { version: 1, dryrun: true }, "dryrun"],
    ["POST", "/admin/hosting/sync", { save_credential: false }, "save_credential"],
  ])("is refused and named: %s %s %j", async (method, path, body, name) => {
    const before = await exported();
    const answer = await call(method, path, body);
    expect(answer).toMatchObject({ status: 400, body: { detail: expect.stringContaining(name) } });
    expect(await exported()).toEqual(before);
  });

  it("stays if it is stored or imported", async () => {
    expect(await exported()).toMatchObject({ api_keys: [LATER] });
    const imported = { api_keys: [{ key: "sk-new-0123456789", ...LATER }] };
    expect((await call("POST", "/admin/config/import", imported)).status).toBe(200);
    expect((await call("POST", "/admin/import", { keys: [{ key: "sk-third", ...LATER }] })).status).toBe(200);
    expect(await exported()).toMatchObject({ api_keys: [LATER, LATER, LATER] });
    // Nobody looks for trouble any more.
    await call("PUT", "/admin/alerts", { webhooks: [] });
  });
});

describe("what was read", () => {
  it.each([
    ["/admin/keys", "/admin/keys/sk-later-0123456789", { remark: "r" }],
    ["/admin/accounts", "/admin/accounts/a@x.test", { remark: "r" }],
    ["/admin/proxies", "/admin/proxies/p", { name: "Q" }],
    ["/admin/providers", "/admin/providers/one", { name: "O" }],
  ])("may be sent back with a change: %s", async (list, path, change) => {
    const before = await firstOf(list);
    expect((await call("PUT", path, { ...before, ...change })).status).toBe(200);
    expect(await firstOf(list)).toEqual({ ...before, ...change });
  });

  it("may be sent back as a whole, and changes nothing", async () => {
    const before = await exported();
    const { body: alerts } = await call("GET", "/admin/alerts");
    expect((await call("PUT", "/admin/alerts", alerts)).status).toBe(200);
    const { body: settings } = await call("GET", "/admin/settings");
    expect((await call("PUT", "/admin/settings", settings)).status).toBe(200);
    const { body: config } = await call("GET", "/admin/config");
    expect((await call("POST", "/admin/config", config)).status).toBe(200);
    expect(await exported()).toEqual(before);
    // Nobody looks for trouble any more.
    await call("PUT", "/admin/alerts", { webhooks: [] });
  });

  it("of a webhook has the rules that it gets; null names all rules again", async () => {
    const save = (webhook: JsonObject) => call("PUT", "/admin/alerts", { webhooks: [webhook] });
    const webhooks = async () => (await call("GET", "/admin/alerts")).body["webhooks"];
    const withRules = { id: "w", rules: ["budget", "provider_down"] };
    expect(await webhooks()).toEqual([expect.not.objectContaining({ rules: expect.anything() })]);
    expect((await save(withRules)).status).toBe(200);
    expect((await save({ id: "w", name: "N" })).status).toBe(200);
    expect(await webhooks()).toEqual([expect.objectContaining({ name: "N", rules: withRules.rules })]);
    expect(await exported()).toMatchObject({ alerts: { webhooks: [withRules] } });
    for (const [rules, field] of [
      [["budget", "budgets"], "webhooks[0].rules[1]"],
      [[], "webhooks[0].rules"],
    ] as const) {
      const { status, body } = await save({ id: "w", rules });
      expect([status, String(body["detail"]).split(": ")[0]]).toEqual([400, field]);
    }
    expect(await webhooks()).toEqual([expect.objectContaining({ rules: withRules.rules })]);
    expect((await save({ id: "w", rules: null })).status).toBe(200);
    expect(await webhooks()).toEqual([expect.not.objectContaining({ rules: expect.anything() })]);
    // Nobody looks for trouble any more.
    await call("PUT", "/admin/alerts", { webhooks: [] });
  });

  it("of alerts lists the private hosts, which webhooks of the same request may use", async () => {
    const webhooks = [{ id: "w" }, { id: "own", url: "http://10.0.0.5:8065/hooks/1" }];
    const refused = await call("PUT", "/admin/alerts", { webhooks });
    expect([refused.status, refused.body["detail"]]).toEqual([
      400,
      expect.stringMatching(/webhooks\[1\]\.url.*private_hosts/),
    ]);
    const private_hosts = ["10.0.0.5:8065", "chat.local"];
    expect((await call("PUT", "/admin/alerts", { webhooks, private_hosts })).status).toBe(200);
    expect((await call("GET", "/admin/alerts")).body).toMatchObject({ private_hosts });
    for (const host of ["http://chat.local", "chat.local/x", "me@chat.local", "*", "", "::1"]) {
      const { status, body } = await call("PUT", "/admin/alerts", { private_hosts: [host] });
      expect([host, status, body["detail"]]).toEqual([
        host,
        400,
        expect.stringContaining("private_hosts[0]"),
      ]);
    }
    await call("PUT", "/admin/alerts", { webhooks: [] });
  });

  it("of a proxy may be sent to a test of it", async () => {
    const proxy = await firstOf("/admin/proxies");
    const answer = await call("POST", "/admin/proxies/test", { ...proxy, target: "http://target.test" });
    expect(answer.status).toBe(200);
  });

  it("of an account may be sent to bind it", async () => {
    const account = await firstOf("/admin/accounts");
    const sent = { ...account, proxy_id: "p" };
    expect((await call("PUT", "/admin/accounts/a@x.test/proxy", sent)).status).toBe(200);
    expect(await firstOf("/admin/accounts")).toMatchObject({ proxy_id: "p" });
  });

  it("of a version may be sent to restore it", async () => {
    await call("DELETE", "/admin/accounts/a@x.test");
    const version = await firstOf("/admin/config/versions");
    expect((await call("POST", "/admin/config/restore", version)).status).toBe(200);
    expect(await firstOf("/admin/accounts")).toMatchObject({ email: "a@x.test" });
    // Nobody looks for trouble any more.
    await call("PUT", "/admin/alerts", { webhooks: [] });
  });

  it("of a model may be sent back with what this version does not know, and nothing else of that kind", async () => {
    const path = "/admin/providers/one/models/m";
    expect((await call("PUT", path, { ...SWEET, output: 5 })).status).toBe(200);
    expect(await exported()).toMatchObject({ providers: [{ models: { m: { ...SWEET, output: 5 } } }] });
    const refused = await call("PUT", path, { ...SWEET, smell: "sour" });
    expect(refused).toMatchObject({ status: 400, body: { detail: expect.stringContaining("smell") } });
  });
});

describe("an account that signs in", () => {
  it("needs an address that is one, unless it has a token", async () => {
    const account = { email: "notanemail", password: "p" };
    const refused = await call("POST", "/admin/accounts", account);
    expect(refused).toMatchObject({ status: 400, body: { detail: expect.stringContaining("email: ") } });
    expect((await call("POST", "/admin/accounts", { ...account, token: "t" })).status).toBe(200);
  });
});
