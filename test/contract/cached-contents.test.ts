import type { IncomingHttpHeaders } from "node:http";
import { text } from "node:stream/consumers";
import { GoogleGenAI } from "@google/genai";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { serve } from "../support/local-server.ts";
import { useAdmin } from "../support/use-admin.ts";

/** Prompts that a Gemini provider caches under names: they live at one of its accounts (docs/contract/other-endpoints.md, /v1beta/cachedContents). */

const running = useAdmin();

interface Received {
  readonly method: string;
  readonly path: string;
  readonly key: string;
  readonly body: string;
}

const received: Received[] = [];
const names = new Map<string, string>();
const keyIn = (headers: IncomingHttpHeaders) => String(headers["x-goog-api-key"]);

/** Answers like the vendor: a cache is known only with the key that created it. */
function reply({ method, path, key, body }: Received): [number, object] {
  const [, name = ""] = /\/(cachedContents\/[^/?]+)/.exec(path) ?? [];
  if (path.includes(":generateContent")) {
    const { cachedContent } = JSON.parse(body);
    if (names.get(cachedContent) !== key) return [403, { error: { code: 403, message: "no permission" } }];
    return [
      200,
      { candidates: [{ content: { role: "model", parts: [{ text: "Hi" }] }, finishReason: "STOP" }] },
    ];
  }
  const shown = {
    model: "models/real-name",
    ttl: undefined,
    expireTime: "2999-01-01T00:00:00Z",
    unknown: [1.5],
  };
  if (method === "POST") {
    const created = `cachedContents/made-${names.size}`;
    names.set(created, key);
    return [200, { name: created, ...shown }];
  }
  if (names.get(name) !== key) return [403, { error: { code: 403, message: "no permission" } }];
  if (method !== "DELETE") return [200, { name, ...shown, method }];
  names.delete(name);
  return [200, {}];
}

const vendor = await serve(async (request, response) => {
  const { method = "", url: path = "", headers } = request;
  const asked = { method, path, key: keyIn(headers), body: await text(request) };
  received.push(asked);
  const [status, body] = reply(asked);
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
});

beforeAll(async () => {
  const provider = {
    id: "cont",
    driver: "gemini",
    base_url: vendor.origin,
    models: { m: "real-name" },
    strategy: "round_robin",
  };
  expect((await running.admin("POST", "/admin/providers", provider)).status).toBe(200);
  for (const name of ["one", "two", "three"]) {
    const account = { email: `${name}@cache.test`, token: `sk-account-${name}`, provider: "cont" };
    expect((await running.admin("POST", "/admin/accounts", account)).status).toBe(200);
  }
  expect((await running.admin("POST", "/admin/keys", { key: "sk-other" })).status).toBe(200);
});
afterAll(() => vendor.close());

describe("cached contents", () => {
  it("are created, used, changed, listed and deleted at the account that has them, with Google's SDK", async () => {
    const client = new GoogleGenAI({ apiKey: "sk-dev", httpOptions: { baseUrl: running.gateway.url } });
    const created = [];
    for (let index = 0; index < 3; index += 1)
      created.push(await client.caches.create({ model: "cont/m", config: { contents: "long", ttl: "60s" } }));
    expect(created.map(({ model }) => model)).toEqual(Array(3).fill("models/cont/m"));
    expect(JSON.parse(received[0]?.body ?? "")).toMatchObject({ model: "models/real-name", ttl: "60s" });
    expect(new Set(names.values()).size).toBe(3);
    for (const { name = "" } of created) {
      for (let turn = 0; turn < 3; turn += 1) {
        const answer = await client.models.generateContent({
          model: "cont/m",
          contents: "Hello?",
          config: { cachedContent: name },
        });
        expect(answer.text).toBe("Hi");
      }
      expect((await client.caches.get({ name })).name).toBe(name);
      expect((await client.caches.update({ name, config: { ttl: "9s" } })).model).toBe("models/cont/m");
    }
    const listed = [];
    for await (const cache of await client.caches.list({ config: { pageSize: 2 } })) listed.push(cache.name);
    expect(listed).toEqual(created.map(({ name }) => name).toReversed());
    for (const { name = "" } of created) await client.caches.delete({ name });
    expect(names.size).toBe(0);
    await expect(client.caches.get({ name: created[0]?.name ?? "" })).rejects.toMatchObject({ status: 404 });
  });

  it("of one caller are unknown to another one", async () => {
    const post = (key: string, path: string, method: string, body?: object) =>
      running.fetch(path, {
        method,
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
    const body = { model: "models/cont/m", contents: [{ role: "user", parts: [{ text: "x" }] }] };
    const created = await post("sk-dev", "/v1beta/cachedContents", "POST", body);
    const { name } = JSON.parse(await created.text());
    for (const method of ["GET", "DELETE", "PATCH"]) {
      const response = await post("sk-other", `/v1beta/${name}`, method, method === "PATCH" ? {} : undefined);
      expect(response.status).toBe(404);
      await response.body?.cancel();
    }
    const list = await post("sk-other", "/v1beta/cachedContents", "GET");
    expect(await list.text()).toBe("{}");
  });

  it.each([
    ["of an unknown model", { model: "models/none/such" }, 400],
    ["of a provider without caches", { model: "models/provider-v4-flash" }, 501],
  ])("are refused %s", async (_, body, status) => {
    const response = await running.fetch("/v1beta/cachedContents", {
      method: "POST",
      headers: { authorization: "Bearer sk-dev", "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    expect(response.status).toBe(status);
    expect(JSON.parse(await response.text()).error.code).toBe(status);
  });
});
