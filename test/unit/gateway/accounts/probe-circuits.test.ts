import { describe, expect, it } from "vitest";
import { probeCircuits } from "../../../../src/gateway/accounts/probe-circuits.ts";
import { type MemoryGateway, pass, useMemoryGateway } from "../../../support/memory-gateway.ts";
import type { Reply, UpstreamRequest } from "../../../support/scripted-upstream.ts";
import { ScriptedUpstream } from "../../../support/scripted-upstream.ts";

const make = useMemoryGateway();

const ANSWER: Reply = {
  json: {
    id: "1",
    object: "chat.completion",
    model: "m",
    choices: [{ index: 0, message: { role: "assistant", content: "hello" }, finish_reason: "stop" }],
  },
};
const MODELS: Reply = { json: { object: "list", data: [{ id: "m" }] } };
const refusal = (status: number, headers: Record<string, string> = {}): Reply => ({
  json: { error: { message: "no", type: "error" } },
  status,
  headers,
});

/** A backend whose answer to every request is `fault`, until that is null. */
class Backend {
  fault: Reply | null = null;
  readonly upstream = new ScriptedUpstream((asked) => this.fault ?? (isProbe(asked) ? MODELS : ANSWER));

  get probes(): UpstreamRequest[] {
    return this.upstream.asked.filter(isProbe);
  }
}

const isProbe = ({ path }: UpstreamRequest) => path === "/v1/models";

/** A gateway with accounts of this number at one provider. */
function gatewayWith(backend: Backend, accounts: number, more: object = {}): Promise<MemoryGateway> {
  const names = Array.from({ length: accounts }, (_, index) => `a${index}`);
  return make({
    upstream: backend.upstream,
    config: {
      providers: [
        { id: "vendor", driver: "openai", base_url: "http://vendor.test/v1", models: { m: "m" }, ...more },
      ],
      accounts: names.map((email) => ({ email, token: `sk-${email}`, provider: "vendor" })),
    },
  });
}

const ask = (gateway: MemoryGateway) =>
  gateway.request("/v1/chat/completions", {
    method: "POST",
    headers: { authorization: "Bearer sk-test", "content-type": "application/json" },
    body: JSON.stringify({ model: "vendor/m", messages: [{ role: "user", content: "hi" }] }),
  });

const cooling = async ({ platform }: MemoryGateway) =>
  (await platform.accounts.getStatus()).cooldowns.map(({ account }) => account);

describe("an account whose circuit is open", () => {
  it("is used again as soon as a probe finds that it works", async () => {
    const backend = new Backend();
    const gateway = await gatewayWith(backend, 1);
    backend.fault = refusal(401);
    expect((await ask(gateway)).status).not.toBe(200);
    expect(await cooling(gateway)).toEqual(["a0"]);

    backend.fault = null;
    expect(await probeCircuits(gateway.platform)).toBe(1);
    expect(backend.probes[0]?.token).toBe("sk-a0");
    expect(await cooling(gateway)).toEqual([]);
    expect((await ask(gateway)).status).toBe(200);
  });

  it("stays open while probes fail, and its slots are returned", async () => {
    const backend = new Backend();
    const gateway = await gatewayWith(backend, 1);
    backend.fault = refusal(401);
    await ask(gateway);
    expect(await probeCircuits(gateway.platform)).toBe(0);
    expect(await gateway.platform.accounts.getStatus()).toMatchObject({
      cooldowns: [{ account: "a0", failures: 2 }],
      in_use: 0,
    });
  });

  it("is not probed while it works, or after a rate limit of the provider", async () => {
    const backend = new Backend();
    const gateway = await gatewayWith(backend, 2);
    expect(await probeCircuits(gateway.platform)).toBe(0);
    backend.fault = refusal(429, { "retry-after": "30" });
    await ask(gateway);
    expect(await cooling(gateway)).toHaveLength(2);
    await probeCircuits(gateway.platform);
    expect(backend.probes).toEqual([]);
  });

  it.each([
    ["the provider's setting forbids it", { active_probes: false }],
    ["the provider is switched off", { enabled: false }],
  ])("is not probed when %s", async (_reason, more) => {
    const backend = new Backend();
    const gateway = await gatewayWith(backend, 1);
    backend.fault = refusal(401);
    await ask(gateway);
    await gateway.platform.configuration.update((config) => ({
      ...config,
      providers: config.providers.map((entry) => ({ ...entry, ...more })),
    }));
    await pass(3_000);
    await probeCircuits(gateway.platform);
    expect(backend.probes).toEqual([]);
  });
});

describe("a provider that is down", () => {
  it("is probed once, and used again when it answers", async () => {
    const backend = new Backend();
    const gateway = await gatewayWith(backend, 6);
    backend.fault = "unreachable";
    for (let request = 0; request < 3; request += 1) await ask(gateway);
    expect((await gateway.platform.accounts.getStatus()).outages).toMatchObject([
      { provider: "vendor", model: "" },
    ]);
    backend.fault = null;
    await probeCircuits(gateway.platform);
    expect((await gateway.platform.accounts.getStatus()).outages).toEqual([]);
    expect((await ask(gateway)).status).toBe(200);
  });
});
