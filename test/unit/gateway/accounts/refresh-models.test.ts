import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { refreshModels } from "../../../../src/gateway/accounts/refresh-models.ts";
import { type MemoryGateway, pass, useMemoryGateway } from "../../../support/memory-gateway.ts";
import type { Reply } from "../../../support/scripted-upstream.ts";
import { ScriptedUpstream } from "../../../support/scripted-upstream.ts";

const make = useMemoryGateway();
const HOUR_MS = 3_600_000;

const BACKEND = {
  id: "backend",
  driver: "openai",
  base_url: "http://backend.test/v1",
  token: "sk-backend-token",
  headers: { "x-team": "blue" },
  models_refresh_hours: 6,
};

/** A gateway with such providers, whose lists of models are `answer`'s. */
function gatewayWith(answer: () => Reply, ...providers: object[]): Promise<MemoryGateway> {
  const upstream = new ScriptedUpstream(() => answer());
  return make({
    env: { ADMIN_KEY: "admin" },
    upstream,
    config: { providers: providers.map((more) => ({ ...BACKEND, ...more })) },
  });
}

const offering = (...names: string[]): Reply => ({
  json: { object: "list", data: names.map((id) => ({ id })) },
});

const modelsOf = async ({ platform }: MemoryGateway) =>
  (await platform.configuration.readFresh()).config.providers[0]?.models;

/** What administrators see of the first configured provider. */
async function shown(gateway: MemoryGateway): Promise<Record<string, unknown>> {
  const headers = { authorization: "Bearer admin" };
  const { items } = Object(await (await gateway.request("/admin/providers", { headers })).json());
  return items[1];
}

describe("a provider whose model list is refreshed on schedule", () => {
  it("gets its new models, and keeps edited ones unchanged", async () => {
    // Names that would be disguised in lists, or that no address can have, are left out.
    let names = ["a", "..", "a\u0000", "evil\u202eslash", "\ud800", "b"];
    const edited = { upstream: "b", vision: false };
    const gateway = await gatewayWith(() => offering(...names), { models: { own: edited, old: "gone" } });
    expect(await refreshModels(gateway.platform)).toBe(1);
    expect(await modelsOf(gateway)).toEqual({ own: edited, old: "gone", a: "a" });
    const [asked] = gateway.upstream.asked;
    expect([asked?.path, asked?.token, asked?.headers.get("x-team")]).toEqual([
      "/v1/models",
      "sk-backend-token",
      "blue",
    ]);
    expect(await shown(gateway)).toMatchObject({ models_asked: { at: Date.now(), error: "", added: 1 } });

    // Only callers' requests count.
    expect(await gateway.platform.accounts.getHealth(["provider:backend"])).toMatchObject([
      { activity: { lastSuccess: 0, hour: { requests: 0 } } },
    ]);
    names = ["a", "b", "c"];
    await pass(6 * HOUR_MS - 1);
    expect(await refreshModels(gateway.platform)).toBe(0);
    expect(gateway.upstream.asked).toHaveLength(1);
    await pass(1);
    expect(await refreshModels(gateway.platform)).toBe(1);
    expect(await modelsOf(gateway)).toEqual({ own: edited, old: "gone", a: "a", c: "c" });

    // A backend that has nothing new leaves the configuration as it is.
    const { version } = await gateway.platform.configuration.readFresh();
    await pass(6 * HOUR_MS);
    expect(await refreshModels(gateway.platform)).toBe(0);
    expect((await gateway.platform.configuration.readFresh()).version).toBe(version);
    const audit = Object(
      await (await gateway.request("/admin/audit", { headers: { authorization: "Bearer admin" } })).json(),
    );
    expect(audit.items).toHaveLength(2);
    expect(audit.items[0]).toMatchObject({
      who: "schedule",
      changes: [{ path: "providers[backend].models.c", before: null, after: '"c"' }],
    });
  });

  it("gets its new models disabled if the operator wants to review them", async () => {
    const gateway = await gatewayWith(() => offering("a"), { new_models: "off" });
    await refreshModels(gateway.platform);
    expect(await modelsOf(gateway)).toEqual({ a: { upstream: "a", enabled: false } });
  });

  it("keeps its listed models, and gets no more than the maximum", async () => {
    const numbers = Array.from({ length: 5_001 }, (_, index) => String(index));
    const operators = fc.dictionary(
      fc.oneof(fc.stringMatching(/^[a-z]{1,6}$/), fc.nat(6_000).map(String)),
      fc.constantFrom("small", { price: { input: 1, output: 2 } }, { enabled: false }),
      { maxKeys: 20, noNullPrototype: true },
    );
    await fc.assert(
      fc.asyncProperty(operators, fc.boolean(), async (models, reversed) => {
        const names = reversed ? numbers.toReversed() : numbers;
        const gateway = await gatewayWith(() => offering(...names), { models });
        const { config } = await gateway.platform.configuration.readFresh();
        const before = config.providers[0]?.models ?? {};
        await refreshModels(gateway.platform);
        const after = (await modelsOf(gateway)) ?? {};
        expect(after).toMatchObject(before);
        expect(Object.keys(after)).toHaveLength(5_000);
      }),
      { numRuns: 10, examples: [[{ priced: { price: { input: 1, output: 2 } } }, false]] },
    );
  });

  it("gets at most a thousand models at once, and only those with usable names", async () => {
    const numbers = Array.from({ length: 4_000 }, (_, index) => String(index));
    const gateway = await gatewayWith(
      () => offering(" ", ".", "..", "__proto__", "a".repeat(301), ...numbers),
      {
        models: { own: "0", ...Object.fromEntries(numbers.slice(0, 3).map((name) => [`more${name}`, "x"])) },
      },
    );
    const takeAll = async () => {
      const headers = { authorization: "Bearer admin" };
      const response = await gateway.post("/admin/providers/backend/models", { enabled: true }, { headers });
      expect(response.status).toBe(200);
      return Object.keys((await modelsOf(gateway)) ?? {});
    };
    const first = await takeAll();
    expect(first).toHaveLength(1_004);
    expect(first).toEqual(expect.arrayContaining(["own", "more2", "1", "1000"]));
    expect(first).not.toContain("..");
    expect(await takeAll()).toHaveLength(2_004);
  });

  it.each<[string, Reply, string]>([
    [
      "refuses",
      { status: 401, json: { error: { code: "invalid_api_key", message: "No." } } },
      "refused the account's token",
    ],
    ["cannot be reached", "unreachable", "unreachable"],
    ["says something else", { json: { nothing: true } }, "malformed"],
  ])("stays unchanged when it %s, states why, and is asked again within the hour", async (_, reply, why) => {
    let answer: Reply = reply;
    const gateway = await gatewayWith(() => answer, { models: { small: "a" } });
    const { version } = await gateway.platform.configuration.readFresh();
    expect(await refreshModels(gateway.platform)).toBe(0);
    expect((await gateway.platform.configuration.readFresh()).version).toBe(version);
    expect(await shown(gateway)).toMatchObject({
      models_asked: { at: Date.now(), error: expect.stringContaining(why), added: 0 },
    });
    answer = offering("a", "b");
    await pass(HOUR_MS);
    expect(await refreshModels(gateway.platform)).toBe(1);
    expect(await shown(gateway)).toMatchObject({ models_asked: { error: "", added: 1 } });
  });

  it("is asked only if this is configured, and not while it is disabled", async () => {
    const gateway = await gatewayWith(
      () => offering("a"),
      { models_refresh_hours: 0 },
      { id: "off", enabled: false },
    );
    await refreshModels(gateway.platform);
    expect(gateway.upstream.asked).toEqual([]);
    expect(await shown(gateway)).toMatchObject({ models_asked: null });
  });

  it("states that its protocol has no such list, and does not delay others", async () => {
    const gateway = await gatewayWith(
      () => offering("a"),
      { driver: "sessions", base_url: "http://sessions.test" },
      { id: "second" },
    );
    await refreshModels(gateway.platform);
    expect(await shown(gateway)).toMatchObject({
      models_asked: { error: "this provider does not list its models", added: 0 },
    });
    const { config } = await gateway.platform.configuration.readFresh();
    expect(config.providers[1]?.models).toEqual({ a: "a" });
  });
});
