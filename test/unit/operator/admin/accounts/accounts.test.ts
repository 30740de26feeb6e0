import { describe, expect, it } from "vitest";
import { isObject, type JsonObject } from "../../../../../src/core/encoding/json.ts";
import { useMemoryGateway } from "../../../../support/memory-gateway.ts";
import { accountNamed } from "../../../../support/memory-platform.ts";
import { refuses, says, type Turns } from "../../../../support/upstream-scripts.ts";

const make = useMemoryGateway();
const ADMIN = { authorization: "Bearer admin" };

async function createGateway(accounts: readonly string[], turns: Turns = []) {
  const gateway = await make({
    env: { ADMIN_KEY: "admin" },
    turns,
    config: {
      accounts: accounts.map((name) => accountNamed(name)),
      proxies: [
        { id: "p", name: "P", type: "http", host: "proxy.test", port: 1, username: "", password: "" },
      ],
    },
  });
  const call = async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) => {
    const response = await gateway.request(path, {
      method,
      headers: { ...ADMIN, "content-type": "application/json", ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const answer: unknown = await response.json();
    return {
      status: response.status,
      etag: response.headers.get("etag"),
      body: isObject(answer) ? answer : {},
    };
  };
  const names = async (query: string): Promise<unknown[]> => {
    const { body } = await call("GET", `/admin/accounts?${query}`);
    const items: JsonObject[] = Array.isArray(body["items"]) ? body["items"].filter(isObject) : [];
    return items.map(({ identifier }) => identifier);
  };
  return { gateway, call, names };
}

describe("the list of accounts", () => {
  it("is filtered by health and proxy, and shows problems first", async () => {
    const { gateway, call, names } = await createGateway(
      ["c@x", "b@x", "a@x"],
      [says("Hi"), refuses(401, "no")],
    );
    await call("PUT", "/admin/accounts/b@x", { disabled: true });
    await call("PUT", "/admin/accounts/a@x/proxy", { proxy_id: "p" });
    const pinned = { headers: { "x-gateway-target-account": "c@x" } };
    const chat = { model: "provider-v4-flash", messages: [{ role: "user", content: "Hello" }] };
    await gateway.post("/v1/chat/completions", chat, pinned);
    expect(await names("health=ok")).toEqual(["c@x"]);
    expect(await names("health=disabled,untested")).toEqual(["b@x", "a@x"]);
    expect(await names("proxy_id=p")).toEqual(["a@x"]);
    expect(await names("proxy_id=")).toEqual(["c@x", "b@x"]);
    expect(await names("provider=elsewhere")).toEqual([]);
    expect(await names("provider=")).toEqual(["c@x", "b@x", "a@x"]);
    expect(await names("sort=name")).toEqual(["a@x", "b@x", "c@x"]);
    expect(await names("sort=health")).toEqual(["a@x", "b@x", "c@x"]);
    expect(await names("sort=used&q=x")).toEqual(["c@x", "b@x", "a@x"]);
    expect((await call("GET", "/admin/accounts?health=odd")).status).toBe(400);
  });

  it("is sorted by proxy or provider, those without one first", async () => {
    const { call, names } = await createGateway(["d@x", "c@x", "b@x", "a@x"]);
    for (const id of ["two", "one"]) {
      const provider = { id, driver: "sessions", base_url: "https://backend.test" };
      expect((await call("POST", "/admin/providers", provider)).status).toBe(200);
    }
    await call("PUT", "/admin/accounts/d@x", { provider: "two" });
    await call("PUT", "/admin/accounts/b@x", { provider: "one" });
    expect(await names("sort=provider")).toEqual(["c@x", "a@x", "b@x", "d@x"]);
    await call("PUT", "/admin/accounts/c@x/proxy", { proxy_id: "p" });
    expect(await names("sort=proxy")).toEqual(["d@x", "b@x", "a@x", "c@x"]);
  });
});

describe("an id that cannot be in a path", () => {
  const backend = { id: "one", driver: "openai", base_url: "https://backend.test" };
  const proxy = { id: "..", type: "http", host: "proxy.test", port: 1 };

  it.each([
    ["POST", "/admin/accounts", { email: "..", password: "x" }],
    ["POST", "/admin/accounts", { mobile: ".", password: "x" }],
    ["POST", "/admin/proxies", proxy],
    [
      "POST",
      "/admin/config/import",
      { config: { providers: [{ ...backend, models: { "..": "x" } }] }, mode: "replace", confirm: true },
    ],
    ["POST", "/admin/keys", { key: "sk-new", id: ".." }],
    ["POST", "/admin/keys", { key: ".." }],
    ["POST", "/admin/providers", { ...backend, id: "two", models: { "..": "x" } }],
    ["PUT", "/admin/providers/one", { models: { ".": "x" } }],
    ["POST", "/admin/providers/one/models", { models: ["a", ".."] }],
    ["POST", "/admin/dev/raw-samples/save", { chain_key: "x", sample_id: ".." }],
  ])("is never added: %s %s %j", async (method, path, body) => {
    const { call } = await createGateway([]);
    expect((await call("POST", "/admin/providers", backend)).status).toBe(200);
    const answer = await call(method, path, body);
    expect(answer.status).toBe(400);
    expect(answer.body["detail"]).toMatch(
      /means something else in an address|: an id has 1 to 64 characters/,
    );
  });
});

it("adds no model with a name that an object cannot have", async () => {
  const { call } = await createGateway([]);
  const backend = { id: "one", driver: "openai", base_url: "https://backend.test" };
  expect((await call("POST", "/admin/providers", backend)).status).toBe(200);
  const answer = await call("PUT", "/admin/providers/one/models/__proto__", { enabled: true });
  expect([answer.status, answer.body["detail"]]).toEqual([400, "a model cannot have this name"]);
});

describe("an action on many accounts", () => {
  it("applies to existing ones, in one edit", async () => {
    const { call, names } = await createGateway(["a@x", "b@x", "c@x"]);
    const disabled = { action: "disable", identifiers: ["a@x", "c@x", "gone@x"] };
    const answer = await call("POST", "/admin/accounts/bulk", disabled);
    expect(answer.body).toMatchObject({ changed: 2, missing: ["gone@x"], total_accounts: 3 });
    expect(await names("health=disabled")).toEqual(["a@x", "c@x"]);
    await call("POST", "/admin/accounts/bulk", { action: "enable", identifiers: ["a@x"] });
    expect(await names("health=disabled")).toEqual(["c@x"]);
    const bind = { action: "bind", identifiers: ["a@x", "b@x"] };
    expect((await call("POST", "/admin/accounts/bulk", bind)).status).toBe(400);
    expect((await call("POST", "/admin/accounts/bulk", { ...bind, proxy_id: "nowhere" })).status).toBe(400);
    await call("POST", "/admin/accounts/bulk", { ...bind, proxy_id: "p" });
    expect(await names("proxy_id=p")).toEqual(["a@x", "b@x"]);
    const deleted = { action: "delete", identifiers: ["a@x", "b@x", "c@x"] };
    expect((await call("POST", "/admin/accounts/bulk", deleted)).body).toMatchObject({ total_accounts: 0 });
  });
});

describe("a deletion", () => {
  it("can be undone by its tag, if nothing else has changed", async () => {
    const { call, names } = await createGateway(["a@x", "b@x"]);
    const deleted = await call("DELETE", "/admin/accounts/a@x");
    const version = Number(deleted.etag?.replaceAll('"', ""));
    const undo = () =>
      call("POST", "/admin/config/restore", { version: version - 1 }, { "if-match": deleted.etag ?? "" });
    expect((await undo()).status).toBe(200);
    expect(await names("")).toEqual(["a@x", "b@x"]);
    expect((await undo()).status).toBe(412);
    for (const [method, path, body] of [
      ["DELETE", "/admin/proxies/p", undefined],
      ["POST", "/admin/accounts/bulk", { action: "delete", identifiers: ["b@x"] }],
    ] as const) {
      const { etag } = await call(method, path, body);
      const restored = { version: Number(etag?.replaceAll('"', "")) - 1 };
      expect((await call("POST", "/admin/config/restore", restored, { "if-match": etag ?? "" })).status).toBe(
        200,
      );
    }
  });

  it("evicts no configuration that was saved before another kind of change", async () => {
    const { call } = await createGateway(Array.from({ length: 25 }, (_, index) => `a${index}@x`));
    await call("POST", "/admin/import", { accounts: [{ email: "new@x", password: "p" }] });
    for (let index = 0; index < 25; index += 1) await call("DELETE", `/admin/accounts/a${index}@x`);
    const { body } = await call("GET", "/admin/config/versions");
    const items = Array.isArray(body["items"]) ? body["items"].filter(isObject) : [];
    expect(items).toHaveLength(11);
    expect(items.at(-1)).toMatchObject({ action: "POST /admin/import" });
  });
});
