import { describe, expect, it } from "vitest";
import type { MemoryGateway, MemoryGatewayOptions } from "../../../support/memory-gateway.ts";
import { useMemoryGateway } from "../../../support/memory-gateway.ts";
import { accountNamed } from "../../../support/memory-platform.ts";

/** Cached answers that no request may get any more. */

const make = useMemoryGateway();
const BODY = { model: "provider-v4-flash", messages: [{ role: "user", content: "hello" }] };

async function createClient(config: MemoryGatewayOptions["config"], secret: string) {
  const gateway = await make({
    env: { ADMIN_KEY: "admin-key" },
    config: { cache: { ttl_seconds: 600 }, ...config },
  });
  const ask = async () => {
    const headers = { authorization: `Bearer ${secret}` };
    const response = await gateway.post("/v1/chat/completions", BODY, { headers });
    await response.text();
    await gateway.settle();
    return response.headers.get("x-gateway-cache");
  };
  return { gateway, ask, admin: createAdmin(gateway) };
}

const createAdmin = (gateway: MemoryGateway) => async (method: string, path: string, body?: object) => {
  const response = await gateway.request(path, {
    method,
    headers: { authorization: "Bearer admin-key", "content-type": "application/json" },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  expect([path, response.status]).toEqual([path, 200]);
  return Object(await response.json());
};

describe("no cached answer from before is served", () => {
  it.each([
    ["listed by itself", { keys: ["sk-one", "sk-other"] }],
    ["with settings", { api_keys: [{ key: "sk-one" }, { key: "sk-other" }] }],
    ["in both lists", { keys: ["sk-one"], api_keys: [{ key: "sk-one" }, { key: "sk-other" }] }],
  ])("after a key's data were erased: a key %s", async (_, config) => {
    const { gateway, ask, admin } = await createClient(config, "sk-one");
    const askOther = async () => {
      const headers = { authorization: "Bearer sk-other" };
      const response = await gateway.post("/v1/chat/completions", BODY, { headers });
      await response.text();
      await gateway.settle();
      return response.headers.get("x-gateway-cache");
    };
    expect([await ask(), await ask(), await askOther()]).toEqual(["miss", "hit", "miss"]);
    for (let count = 0; count < 2; count += 1) {
      await admin("DELETE", "/admin/keys/sk-one/data");
      expect([await ask(), await ask()]).toEqual(["miss", "hit"]);
    }
    expect(await askOther()).toBe("hit");
  });

  it("after the data of the key's user were erased", async () => {
    const { ask, admin } = await createClient(
      { users: [{ id: "ada" }], api_keys: [{ key: "sk-one", user: "ada" }] },
      "sk-one",
    );
    expect([await ask(), await ask()]).toEqual(["miss", "hit"]);
    await admin("DELETE", "/admin/users/ada/data");
    expect(await ask()).toBe("miss");
  });

  it("after an erasure and the restore or the import of an earlier configuration", async () => {
    const { gateway, ask, admin } = await createClient({ api_keys: [{ key: "sk-one" }] }, "sk-one");
    const { json } = await admin("GET", "/admin/config/export");
    const config = JSON.parse(json);
    await admin("POST", "/admin/config/import?mode=replace", { config });
    expect([await ask(), await ask()]).toEqual(["miss", "hit"]);
    const { config: saved } = await gateway.platform.configuration.readFresh();
    await admin("DELETE", "/admin/keys/sk-one/data");
    await admin("POST", "/admin/config/import?mode=replace", { config });
    expect(await ask()).toBe("miss");
    await admin("DELETE", "/admin/keys/sk-one/data");
    gateway.platform.auditLog.readBackup = async () => saved;
    await admin("POST", "/admin/config/restore", { version: 1 });
    expect(await ask()).toBe("miss");
  });

  it("after the history was to keep less for a while", async () => {
    const { ask, admin } = await createClient({ api_keys: [{ key: "sk-one" }] }, "sk-one");
    for (const history of ["none", "no_texts", "redacted"]) {
      expect([await ask(), await ask()]).toEqual(["miss", "hit"]);
      await admin("PUT", "/admin/keys/sk-one", { history });
      await admin("PUT", "/admin/keys/sk-one", { history: "full" });
    }
    expect(await ask()).toBe("miss");
    await admin("PUT", "/admin/keys/sk-one", { name: "renamed", cache_epoch: 0 });
    expect(await ask()).toBe("hit");
  });
});

describe("no cached answer from before is served after the history was to keep less for a while", () => {
  it.each(["teams", "users", "tags"] as const)("of the requests of %s", async (list) => {
    const id = "some";
    const config = {
      [list]: [{ id }],
      api_keys: [{ key: "sk-one", team: list === "teams" ? id : "", user: list === "users" ? id : "" }],
    };
    const { gateway, admin } = await createClient(config, "sk-one");
    const ask = async () => {
      const headers = { authorization: "Bearer sk-one", "x-gateway-tags": id };
      const response = await gateway.post("/v1/chat/completions", BODY, { headers });
      await response.text();
      await gateway.settle();
      return response.headers.get("x-gateway-cache");
    };
    expect([await ask(), await ask()]).toEqual(["miss", "hit"]);
    await admin("PUT", `/admin/${list}/${id}`, { history: "no_texts" });
    await admin("PUT", `/admin/${list}/${id}`, { history: "full" });
    expect([await ask(), await ask()]).toEqual(["miss", "hit"]);
    await admin("PUT", `/admin/${list}/${id}`, { name: "renamed" });
    expect(await ask()).toBe("hit");
    const { json } = await admin("GET", "/admin/config/export");
    const imported = { ...JSON.parse(json), [list]: [{ id }] };
    await admin("POST", "/admin/config/import?mode=replace", { config: imported });
    expect(await ask()).toBe("hit");
  });
});

describe("no cached answer from before is served after a deletion", () => {
  it("of a key whose data were erased, and that is added again with the same time of creation", async () => {
    const key = { key: "sk-one", created: 1_700_000_000_000 };
    const { ask, admin } = await createClient({ api_keys: [key] }, "sk-one");
    expect([await ask(), await ask()]).toEqual(["miss", "hit"]);
    await admin("DELETE", "/admin/keys/sk-one/data");
    await admin("DELETE", "/admin/keys/sk-one");
    await admin("POST", "/admin/keys", key);
    expect([await ask(), await ask()]).toEqual(["miss", "hit"]);
  });

  it("of a key whose data were erased, and that an import brings back", async () => {
    const { ask, admin } = await createClient({ api_keys: [{ key: "sk-one" }] }, "sk-one");
    const config = JSON.parse((await admin("GET", "/admin/config/export")).json);
    expect([await ask(), await ask()]).toEqual(["miss", "hit"]);
    await admin("DELETE", "/admin/keys/sk-one/data");
    await admin("DELETE", "/admin/keys/sk-one");
    await admin("POST", "/admin/config/import?mode=replace", { config });
    expect(await ask()).toBe("miss");
  });

  it.each([
    ["an import of plain keys", ["POST", "/admin/import", { keys: ["sk-one"] }]],
    ["an import that merges", ["POST", "/admin/config/import", { keys: ["sk-one"] }]],
    [
      "an import that replaces",
      [
        "POST",
        "/admin/config/import?mode=replace",
        { keys: ["sk-one", "sk-other"], accounts: [accountNamed("one@test")] },
      ],
    ],
    ["an update", ["POST", "/admin/config", { keys: ["sk-one", "sk-other"] }]],
    ["a restore", ["POST", "/admin/config/restore", { version: 1 }]],
  ] as const)(
    "of a key of the plain list while nothing was cached, brought back by %s",
    async (_, [method, path, body]) => {
      const { gateway, ask, admin } = await createClient({ keys: ["sk-one", "sk-other"] }, "sk-one");
      const { config: saved } = await gateway.platform.configuration.readFresh();
      gateway.platform.auditLog.readBackup = async () => ({
        ...saved,
        cache: { ttl_seconds: 0, models: {} },
      });
      expect([await ask(), await ask()]).toEqual(["miss", "hit"]);
      await admin("PUT", "/admin/settings", { cache: { ttl_seconds: 0 } });
      await admin("DELETE", "/admin/keys/sk-one");
      await admin(method, path, body);
      await admin("PUT", "/admin/settings", { cache: { ttl_seconds: 600 } });
      expect([await ask(), await ask()]).toEqual(["miss", "hit"]);
      const { config } = await admin("GET", "/admin/config/export");
      expect(config.keys).toEqual(expect.arrayContaining(["sk-one", "sk-other"]));
    },
  );

  it.each(["teams", "users", "tags"] as const)("of %s, under the same id", async (list) => {
    const config = { [list]: [{ id: "some" }], api_keys: [{ key: "sk-one" }] };
    const { gateway, admin } = await createClient(config, "sk-one");
    const ask = async () => {
      const headers = { authorization: "Bearer sk-one", "x-gateway-tags": "some" };
      const response = await gateway.post("/v1/chat/completions", BODY, { headers });
      await response.text();
      await gateway.settle();
      return response.headers.get("x-gateway-cache");
    };
    const join = (id: string) =>
      list === "tags" ? null : admin("PUT", "/admin/keys/sk-one", { [list.slice(0, -1)]: id });
    await join("some");
    expect([await ask(), await ask()]).toEqual(["miss", "hit"]);
    await admin("PUT", `/admin/${list}/some`, { history: "no_texts" });
    await join("");
    await admin("DELETE", `/admin/${list}/some`);
    await admin("POST", `/admin/${list}`, { id: "some" });
    await join("some");
    expect([await ask(), await ask()]).toEqual(["miss", "hit"]);
  });
});

it("a rotation, an edit and an import of the same key keep its cached answers", async () => {
  const { ask, admin } = await createClient({ keys: ["sk-one", "sk-other"] }, "sk-one");
  expect([await ask(), await ask()]).toEqual(["miss", "hit"]);
  await admin("PUT", "/admin/keys/sk-other", { history: "none" });
  await admin("POST", "/admin/keys/sk-one/rotate", { key: "sk-two" });
  await admin("POST", "/admin/import", { keys: ["sk-three"] });
  const { config } = await admin("GET", "/admin/config/export");
  await admin("POST", "/admin/config/import?mode=replace", { config });
  expect(await ask()).toBe("hit");
});

it("erases the other data where the configuration cannot be changed", async () => {
  const { gateway, ask, admin } = await createClient({ api_keys: [{ key: "sk-one" }] }, "sk-one");
  await ask();
  const { configuration } = gateway.platform;
  const readFresh = configuration.readFresh.bind(configuration);
  configuration.readFresh = async () => ({ ...(await readFresh()), writable: false });
  configuration.update = () => Promise.reject(new Error("the configuration is read-only"));
  expect(await admin("DELETE", "/admin/keys/sk-one/data")).toMatchObject({ success: true, history: 1 });
});
