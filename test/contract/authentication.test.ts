import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ChatBackend, startChatBackend } from "../support/chat-backend.ts";
import { until } from "../support/until.ts";
import { useGateway } from "../support/use-gateway.ts";

const test = useGateway();
const { fetch } = test;
const turns = async () => (await test.gateway.sandbox.state()).turns;

const body = JSON.stringify({ model: "provider-v4-flash", messages: [{ role: "user", content: "hello" }] });
const send = (path: string, headers: Record<string, string>) =>
  fetch(path, { method: "POST", headers: { "content-type": "application/json", ...headers }, body });

describe("authentication of business endpoints", () => {
  it.each<[string, string, Record<string, string>]>([
    ["Authorization: Bearer", "/v1/chat/completions", { authorization: "Bearer sk-dev" }],
    ["bearer in lower case", "/v1/chat/completions", { authorization: "bearer sk-dev" }],
    ["x-api-key", "/v1/chat/completions", { "x-api-key": "sk-dev" }],
    ["x-vendorc-api-key", "/v1/chat/completions", { "x-vendorc-api-key": "sk-dev" }],
    ["x-goog-api-key", "/v1/chat/completions", { "x-goog-api-key": "sk-dev" }],
    ["?key=", "/v1/chat/completions?key=sk-dev", {}],
    ["?api_key=", "/v1/chat/completions?api_key=sk-dev", {}],
    [
      "a key beside another credential",
      "/v1/chat/completions",
      { authorization: "Bearer x", "x-api-key": "sk-dev" },
    ],
  ])("accepts the key in %s", async (_name, path, headers) => {
    const response = await send(path, headers);
    expect(response.status).toBe(200);
    await response.body?.cancel();
  });

  it("answers 401 without a credential", async () => {
    const response = await send("/v1/chat/completions", {});
    expect(response.status).toBe(401);
    expect(await response.json()).toMatchObject({
      error: { code: "invalid_api_key", type: "authentication_error" },
    });
  });

  it.each([
    ["/v1/chat/completions", "send Authorization: Bearer <key>"],
    ["/anthropic/v1/messages", "send x-api-key: <key> or Authorization: Bearer <key>"],
    ["/v1beta/models/m:generateContent", "x-goog-api-key: <key> or Authorization: Bearer <key>"],
    ["/v1/models/m:countTokens", "x-goog-api-key: <key> or Authorization: Bearer <key>"],
    ["/api/chat", "send Authorization: Bearer <key>"],
  ])("explains at %s where its clients put the credential", async (path, where) => {
    const response = await send(path, {});
    expect([response.status, await response.text()]).toEqual([401, expect.stringContaining(where)]);
  });

  it("uses accounts in turn for a configured key (rule 1)", async () => {
    const used = async () => {
      for (let n = 0; n < 3; n += 1) await (await test.chat(`rotate ${n}`)).text();
      return new Set((await turns()).slice(-3).map(({ account }) => account));
    };
    // Several pools share the accounts in the first moments.
    await until(used, ({ size }) => size === 3);
  });

  it("uses any other token as the provider's token (rule 2)", async () => {
    const response = await send("/v1/chat/completions", { authorization: "Bearer sandbox-token-mine" });
    expect(response.status).toBe(200);
    await response.text();
    expect((await turns()).at(-1)?.account).toContain("mine");
  });

  it("answers 401 for a token that the provider refuses (rule 2)", async () => {
    const response = await send("/v1/chat/completions", { authorization: "Bearer no-such-token" });
    expect(response.status).toBe(401);
    expect(await response.text()).not.toContain("no-such-token");
  });

  it("pins an account with X-Gateway-Target-Account (rule 3)", async () => {
    for (let n = 0; n < 3; n += 1) {
      await (await test.chat("pinned", {}, { "x-gateway-target-account": "Two@Sandbox.TEST" })).text();
    }
    expect(new Set((await turns()).slice(-3).map(({ account }) => account))).toEqual(
      new Set(["two@sandbox.test"]),
    );
  });

  it("answers 429 without Retry-After for an unknown target (rule 3)", async () => {
    const response = await test.chat("x", {}, { "x-gateway-target-account": "nobody@sandbox.test" });
    expect([response.status, response.headers.has("retry-after")]).toEqual([429, false]);
    await response.body?.cancel();
  });

  it.each([
    "/healthz",
    "/readyz",
    "/v1/models",
    "/models",
    "/vendorb/v1/models",
    "/api/version",
    "/api/tags",
  ])("is not required for %s (rule 4)", async (path) => {
    const response = await fetch(path);
    expect(response.status).toBe(200);
    await response.body?.cancel();
  });
});

describe("a provider that checks no keys, and for which the gateway has no credential", () => {
  let backend: ChatBackend;
  beforeAll(async () => {
    backend = await startChatBackend({ models: ["provider-v4-flash"], says: "from the engine" });
  });
  afterAll(() => backend.close());
  const engine = useGateway(() => ({
    vars: { PROVIDER_DRIVER: "openai", PROVIDER_BASE_URL: backend.url, PROVIDER_TOKEN: "none" },
  }));

  const ask = async (key: string, path = "/v1/chat/completions") => {
    const headers = { "content-type": "application/json", authorization: `Bearer ${key}` };
    const answer = await engine.fetch(path, { method: "POST", headers, body });
    return { status: answer.status, text: await answer.text() };
  };
  const setting = async (callers: object) => {
    const headers = { "content-type": "application/json", authorization: "Bearer admin" };
    const init = { method: "PUT", headers, body: JSON.stringify({ callers }) };
    expect((await engine.fetch("/admin/settings", init)).status).toBe(200);
  };

  it("is reached with configured keys only (rule 2)", async () => {
    expect(await ask("sk-dev")).toMatchObject({
      status: 200,
      text: expect.stringContaining("from the engine"),
    });
    const asked = backend.asked.length;
    for (const path of [
      "/v1/chat/completions",
      "/v1/responses",
      "/v1/embeddings",
      "/anthropic/v1/messages/count_tokens",
    ]) {
      expect(await ask("anything", path)).toMatchObject({ status: 401 });
    }
    const list = await engine.fetch("/v1/files", { headers: { authorization: "Bearer anything" } });
    expect([list.status, await list.json()]).toMatchObject([401, { error: { code: "invalid_api_key" } }]);
    expect(backend.asked).toHaveLength(asked);
  });

  it("serves unknown keys if callers.unknown_keys allows it, with a warning in log and settings (rule 2)", async () => {
    await setting({ unknown_keys: "pass_through" });
    const { status } = await until(
      () => ask("anything"),
      (answer) => answer.status === 200,
    );
    expect(status).toBe(200);
    await until(
      async () => engine.gateway.logs(),
      (lines) => lines.some((line) => line.startsWith("Warning: the gateway serves any API key.")),
    );
    const settings = await engine.fetch("/admin/settings", { headers: { authorization: "Bearer admin" } });
    expect(await settings.json()).toMatchObject({ callers: { unknown_keys_warning: true } });
    await setting({ unknown_keys: "auto" });
    await until(
      () => ask("anything"),
      (answer) => answer.status === 401,
    );
  });
});
