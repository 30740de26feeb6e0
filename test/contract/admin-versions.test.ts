import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { useAdmin } from "../support/use-admin.ts";

const running = useAdmin();
const { admin } = running;

async function send(method: string, path: string, body?: unknown, ifMatch?: string) {
  const headers: Record<string, string> = {
    authorization: "Bearer admin",
    "content-type": "application/json",
  };
  if (ifMatch !== undefined) headers["if-match"] = ifMatch;
  const init = body === undefined ? { method, headers } : { method, headers, body: JSON.stringify(body) };
  const response = await running.fetch(path, init);
  const answer: unknown = await response.json();
  return { status: response.status, tag: response.headers.get("etag") ?? "", body: Object(answer) };
}

/** Entries that administrators edit. Each number makes another edit, the odd ones of a secret where there is one. */
const ENTRIES = [
  {
    kind: "a key",
    path: "/admin/keys/key-one",
    add: ["/admin/keys", { key: "sk-versions-0123456789", id: "key-one" }],
    edit: (number: number) => ({ remark: `${number}` }),
  },
  {
    kind: "an account",
    path: "/admin/accounts/versions@sandbox.test",
    add: ["/admin/accounts", { email: "versions@sandbox.test", password: "first" }],
    edit: (number: number) => (number % 2 ? { password: `${number}` } : { remark: `${number}` }),
  },
  {
    kind: "a provider",
    path: "/admin/providers/versions",
    add: [
      "/admin/providers",
      {
        id: "versions",
        driver: "openai",
        base_url: "https://backend.test",
        headers: { "x-secret": "first" },
      },
    ],
    edit: (number: number) => (number % 2 ? { headers: { "x-secret": `${number}` } } : { name: `${number}` }),
  },
  {
    kind: "a proxy",
    path: "/admin/proxies/versions",
    add: ["/admin/proxies", { id: "versions", type: "http", host: "proxy.test", port: 1, password: "first" }],
    edit: (number: number) => (number % 2 ? { password: `${number}` } : { name: `${number}` }),
  },
  {
    kind: "a route",
    path: "/admin/routes/versions",
    add: ["/admin/routes", { name: "versions", models: ["provider-v4-pro"] }],
    edit: (number: number) => ({ models: [{ model: "provider-v4-pro", weight: number }] }),
  },
] as const;

describe.each(ENTRIES)("the version of $kind", ({ path, add: [list, entry], edit }) => {
  beforeAll(async () => {
    expect((await send("POST", list, entry)).status).toBe(200);
  });
  const read = () => send("GET", path);

  it("allows an edit that is based on it, and changes with each edit, also of a secret", async () => {
    const first = await read();
    expect(first.status).toBe(200);
    expect(first.tag).toMatch(/^"[\da-f]{32}"$/);
    expect((await read()).tag).toBe(first.tag);
    const changed = await send("PUT", path, edit(1), first.tag);
    expect(changed.status).toBe(200);
    expect(changed.tag).not.toBe(first.tag);
    expect((await read()).tag).toBe(changed.tag);
    expect((await send("PUT", path, edit(2), changed.tag)).status).toBe(200);
  });

  it("stops edits and a deletion that are based on an earlier one", async () => {
    const { tag } = await read();
    await send("PUT", path, edit(3));
    const before = await read();
    for (const [method, body] of [
      ["PUT", edit(4)],
      ["DELETE", undefined],
    ] as const) {
      const stale = await send(method, path, body, tag);
      expect(stale).toMatchObject({
        status: 412,
        body: { detail: expect.stringContaining("read it again") },
      });
    }
    expect(await read()).toEqual(before);
  });

  it("allows only one of two simultaneous edits", async () => {
    const { tag } = await read();
    const edits = [5, 6].map((number) => send("PUT", path, edit(number), tag));
    const statuses = (await Promise.all(edits)).map(({ status }) => status);
    expect(statuses.sort()).toEqual([200, 412]);
  });

  it("does not change with other entries, unlike that of the configuration", async () => {
    const { tag } = await read();
    const whole = (await send("GET", "/admin/config")).tag;
    await admin("PUT", "/admin/settings", { history: { limit: 100 } });
    await admin("PUT", "/admin/settings", { history: { limit: 101 } });
    expect((await send("PUT", path, edit(7), whole)).status).toBe(412);
    expect((await send("PUT", path, edit(7), tag)).status).toBe(200);
    const present = (await send("GET", "/admin/config")).tag;
    expect((await send("PUT", path, edit(8), `"other", W/${present}`)).status).toBe(200);
  });

  it("may be any existing one with If-Match: *", async () => {
    expect((await send("PUT", path, edit(9), "*")).status).toBe(200);
    expect((await send("PUT", `${path}-gone`, {}, "*")).status).toBe(404);
    expect((await send("PUT", `${path}-gone`, {}, '"0"')).status).toBe(404);
    expect((await send("GET", `${path}-gone`)).status).toBe(404);
    const { tag } = await read();
    const deleted = await send("DELETE", path, undefined, tag);
    expect(deleted.status).toBe(200);
    // The answer to a deletion has the version that undoes it.
    expect(deleted.tag).toMatch(/^"\d+"$/);
    expect((await read()).status).toBe(404);
  });
});

describe("further edits of an entry", () => {
  it("check its version: the proxy of an account, models of a provider, a rotation", async () => {
    const account = "/admin/accounts/one@sandbox.test";
    const { tag } = await send("GET", account);
    await send("PUT", account, { remark: "changed" });
    expect((await send("PUT", `${account}/proxy`, { proxy_id: "" }, tag)).status).toBe(412);
    const provider = "/admin/providers/further";
    await send("POST", "/admin/providers", {
      id: "further",
      driver: "openai",
      base_url: "https://backend.test",
      token: "secret",
    });
    const { tag: bare } = await send("GET", provider);
    const listed = await send("POST", `${provider}/models`, { models: ["a", "b"] }, bare);
    expect(listed).toMatchObject({ status: 200, tag: (await send("GET", provider)).tag });
    for (const [method, path, body] of [
      ["POST", "/models", { models: ["c"] }],
      ["PUT", "/models", { enabled: false }],
      ["PUT", "/models/a", { vision: true }],
      ["DELETE", "/models/a", undefined],
    ] as const) {
      expect((await send(method, `${provider}${path}`, body, bare)).status).toBe(412);
    }
    await send("POST", "/admin/keys", { key: "sk-rotated-0123456789", id: "rotated" });
    const before = await send("GET", "/admin/keys/rotated");
    const rotated = await send("POST", "/admin/keys/rotated/rotate", {}, before.tag);
    expect(rotated).toMatchObject({ status: 200, tag: (await send("GET", "/admin/keys/rotated")).tag });
    expect((await send("POST", "/admin/keys/rotated/rotate", {}, before.tag)).status).toBe(412);
  });
});

describe("the version of the settings", () => {
  afterEach(() => admin("PUT", "/admin/settings", { history: { limit: 200 } }));

  it("changes with each setting, and with nothing else", async () => {
    const { tag } = await send("GET", "/admin/settings");
    await send("PUT", "/admin/accounts/one@sandbox.test", { remark: "other" });
    const changed = await send("PUT", "/admin/settings", { history: { limit: 7 } }, tag);
    expect(changed.status).toBe(200);
    expect(changed.tag).not.toBe(tag);
    const stale = await send("PUT", "/admin/settings", { history: { limit: 8 } }, tag);
    expect([stale.status, stale.body.detail]).toEqual([412, expect.stringContaining("read it again")]);
    expect((await send("GET", "/admin/settings")).tag).toBe(changed.tag);
  });
});

describe("model routes", () => {
  it("are listed, added, renamed and deleted one by one", async () => {
    await send("POST", "/admin/routes", { name: "fast", models: ["provider-v4-flash"] });
    expect((await send("POST", "/admin/routes", { name: "FAST", models: ["provider-v4-pro"] })).status).toBe(
      409,
    );
    const unknown = await send("POST", "/admin/routes", { name: "other", models: ["no-such-model"] });
    expect(unknown).toMatchObject({ status: 400, body: { detail: expect.stringContaining("no model") } });
    expect((await send("POST", "/admin/routes", { name: "..", models: ["provider-v4-pro"] })).status).toBe(
      400,
    );
    await send("POST", "/admin/routes", { name: "a/b c", models: ["provider-v4-pro"] });
    expect((await send("PUT", "/admin/routes/fast", { name: "a/b c" })).status).toBe(409);
    const renamed = await send("PUT", "/admin/routes/fast", { name: "faster" });
    expect(renamed.body).toEqual({ name: "faster", models: ["provider-v4-flash"], strategy: "order" });
    expect((await send("GET", "/admin/routes")).body).toEqual({
      items: [renamed.body, { name: "a/b c", models: ["provider-v4-pro"], strategy: "order" }],
      total: 2,
    });
    expect((await send("GET", "/admin/settings")).body.model_routes).toHaveProperty("faster");
    expect((await send("DELETE", "/admin/routes/a%2Fb%20c")).body).toEqual({
      success: true,
      total_routes: 1,
    });
    await send("DELETE", "/admin/routes/faster");
  });
});

describe("pages of other origins", () => {
  it("may send back the version that they have read", async () => {
    const preflight = await running.fetch("/admin/settings", { method: "OPTIONS" });
    expect(preflight.headers.get("access-control-allow-headers")?.toLowerCase()).toContain("if-match");
  });
});
