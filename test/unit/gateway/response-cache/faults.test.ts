import { describe, expect, it } from "vitest";
import type { AnswerCache } from "../../../../src/core/ports/pages.ts";
import {
  MemoryGateway,
  type MemoryGatewayOptions,
  useMemoryGateway,
} from "../../../support/memory-gateway.ts";

const make = useMemoryGateway();
const BODY = { model: "provider-v4-flash", messages: [{ role: "user", content: "hello" }] };
const CACHED: MemoryGatewayOptions = {
  env: { ADMIN_KEY: "admin-key" },
  config: { cache: { ttl_seconds: 600 } },
};

/** A gateway with another cache, and a client of it. */
async function createClient(changeCache: (cache: AnswerCache) => AnswerCache, options = CACHED) {
  const { platform, upstream, lines } = await make(options);
  const responseCache = changeCache(platform.responseCache);
  const gateway = new MemoryGateway({ ...platform, responseCache }, upstream, lines);
  const ask = async (more: object = {}, headers: Record<string, string> = {}) => {
    const response = await gateway.post("/v1/chat/completions", { ...BODY, ...more }, { headers });
    const text = await response.text();
    await gateway.settle();
    return { status: response.status, cache: response.headers.get("x-gateway-cache"), text };
  };
  return { gateway, ask };
}

const refuse = async () => {
  throw new Error("no space left on device");
};

describe("a cache", () => {
  it.each([
    ["cannot be read", (cache: AnswerCache) => ({ match: refuse, put: cache.put.bind(cache) })],
    ["is full", (cache: AnswerCache) => ({ match: cache.match.bind(cache), put: refuse })],
    [
      "holds something else",
      () => ({ match: async () => ({ headers: new Headers(), body: new Uint8Array() }), put: refuse }),
    ],
  ])("that %s fails no request", async (_, changeCache) => {
    const { gateway, ask } = await createClient(changeCache);
    for (const more of [{}, { stream: true }]) {
      for (const expected of ["miss", "miss"]) {
        expect(await ask(more)).toMatchObject({ status: 200, cache: expected });
      }
    }
    expect(gateway.turns).toHaveLength(4);
    await gateway.expectIdle();
  });

  it("is not used unless it is configured", async () => {
    const asked: string[] = [];
    const noting = (cache: AnswerCache): AnswerCache => ({
      match: (key) => {
        asked.push(key);
        return cache.match(key);
      },
      put: cache.put.bind(cache),
    });
    const { ask } = await createClient(noting, {});
    expect(await ask()).toMatchObject({ status: 200, cache: null });
    expect(asked).toEqual([]);
  });

  it("is never used for callers with a provider's token", async () => {
    const { ask } = await createClient((cache) => cache, {
      config: { cache: { ttl_seconds: 600 }, callers: { unknown_keys: "pass_through" } },
    });
    const token = { authorization: "Bearer a-token-of-the-provider" };
    expect(await ask({}, token)).toMatchObject({ status: 200, cache: null });
    expect(await ask({}, token)).toMatchObject({ status: 200, cache: null });
    expect(await ask()).toMatchObject({ status: 200, cache: "miss" });
    expect(await ask()).toMatchObject({ status: 200, cache: "hit" });
  });

  it("starts anew when a relevant setting changes", async () => {
    const { gateway, ask } = await createClient((cache) => cache);
    const edit = async (change: object) => {
      const response = await gateway.request("/admin/settings", {
        method: "PUT",
        headers: { authorization: "Bearer admin-key", "content-type": "application/json" },
        body: JSON.stringify(change),
      });
      expect(response.status).toBe(200);
    };
    expect(await ask()).toMatchObject({ cache: "miss" });
    await edit({ history: { limit: 10 } });
    expect(await ask()).toMatchObject({ cache: "hit" });
    await edit({ model_aliases: { other: "provider-v4-flash" } });
    expect(await ask()).toMatchObject({ cache: "miss" });
    expect(await ask()).toMatchObject({ cache: "hit" });
  });

  it("does not affect history, slots and idempotency", async () => {
    const { gateway, ask } = await createClient((cache) => cache);
    const key = { "idempotency-key": "one" };
    const first = await ask({}, key);
    expect(await ask({}, key)).toEqual({ ...first, cache: null });
    const hit = await ask({}, { "idempotency-key": "two" });
    expect(hit).toEqual({ ...first, cache: "hit" });
    expect(gateway.turns).toHaveLength(1);
    const records = await gateway.history();
    expect(records.map(({ cached = false, status }) => [cached, status])).toEqual([
      [true, "success"],
      [false, "success"],
    ]);
    await gateway.expectIdle();
  });
});
