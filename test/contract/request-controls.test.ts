import Anthropic from "@anthropic-ai/sdk";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ChatBackend, startChatBackend } from "../support/chat-backend.ts";
import { type PassthroughVendor, startVendor } from "../support/passthrough-vendor.ts";
import { until } from "../support/until.ts";
import { useAdmin } from "../support/use-admin.ts";
import { DEV_KEY } from "../support/use-gateway.ts";

/** The headers `x-gateway-timeout`, `-retries` and `-fallback`, on every kind of endpoint that generates. */

const api = useAdmin();
const { admin, chat } = api;
let failing: ChatBackend;
let well: ChatBackend;
let vendor: PassthroughVendor;

const failsWith = async (response: Response, status: number) => {
  const { error } = Object(await response.json());
  expect(response.status, JSON.stringify(error)).toBe(status);
  return error;
};

/** Waits until no slot is in use. */
const idle = () =>
  until(
    async () => (await admin("GET", "/admin/queue/status")).body,
    ({ in_use }) => in_use === 0,
  );

beforeAll(async () => {
  failing = await startChatBackend({ models: ["m"], says: "Never.", refuses: 500 });
  well = await startChatBackend({ models: ["m"], says: "From the fallback." });
  vendor = await startVendor(() => Promise.withResolvers<never>().promise);
  const urls = { failing: failing.url, well: well.url, slow: `${vendor.url}/v1` };
  for (const [id, base_url] of Object.entries(urls)) {
    const provider = { id, driver: "openai", base_url, models: { m: {} } };
    expect((await admin("POST", "/admin/providers", provider)).status).toBe(200);
  }
  await admin("PUT", "/admin/settings", { embeddings: { provider: "upstream" } });
  await admin("POST", "/admin/keys", { key: "sk-of-one-model-only", models: ["failing/m"] });
});
afterAll(() => Promise.all([failing.close(), well.close(), vendor.close()]));

describe("x-gateway-timeout", () => {
  const hurry = { "x-gateway-timeout": "400" };

  it.each([false, true])(
    "answers 504 in the style's format if no output came in time (stream: %s)",
    async (stream) => {
      const error = await failsWith(await chat("[[silent]]", { stream }, hurry), 504);
      expect(error).toMatchObject({ code: "request_timeout" });
      const client = new Anthropic({
        baseURL: `${api.gateway.url}/anthropic`,
        apiKey: DEV_KEY,
        maxRetries: 0,
      });
      const messages = [{ role: "user" as const, content: "[[silent]]" }];
      const thrown = await client.messages
        .create({ model: "claude-opus-4-6", max_tokens: 100, messages, stream }, { headers: hurry })
        .catch((e) => e);
      expect(thrown).toBeInstanceOf(Anthropic.InternalServerError);
      expect(thrown).toMatchObject({ status: 504, type: "timeout_error" });
      const path = `/v1beta/models/gemini-2.5-flash:${stream ? "streamGenerateContent?alt=sse" : "generateContent"}`;
      const google = await api.post(path, { contents: [{ parts: [{ text: "[[silent]]" }] }] }, hurry);
      expect(await failsWith(google, 504)).toMatchObject({ code: 504, status: "DEADLINE_EXCEEDED" });
      await idle();
    },
  );

  it("does not end a stream that has begun", async () => {
    const response = await chat(
      "[[say:one two three four five six]][[chunk:1]][[slow:40]]",
      { stream: true },
      hurry,
    );
    expect(await response.text()).toContain("[DONE]");
  });

  it("limits the wait for the first byte of endpoints without translation, and of embeddings", async () => {
    const body = { model: "slow/m", prompt: "x", input: "x" };
    for (const path of ["/v1/images/generations", "/v1/audio/speech", "/v1/embeddings"]) {
      const error = await failsWith(await api.post(path, body, hurry), 504);
      expect(error, path).toMatchObject({ code: "request_timeout" });
    }
    await idle();
  });
});

describe("x-gateway-retries", () => {
  it("limits the attempts of a request, but does not raise the configured maximum", async () => {
    const before = failing.asked.length;
    for (const retries of ["0", "1", "50"]) {
      const headers = { "x-gateway-retries": retries, "x-gateway-fallback": "failing/m-2,failing/m-3" };
      const response = await chat("hi", { model: "failing/m" }, headers);
      expect(response.headers.get("x-gateway-attempts"), retries).toBe({ 0: "1", 1: "2" }[retries] ?? "3");
      await failsWith(response, 503);
    }
    expect(failing.asked.length - before).toBe(6);
  });
});

describe("x-gateway-fallback", () => {
  const fallback = (names: string) => ({ "x-gateway-fallback": names });

  it.each([false, true])(
    "names models that are asked after the requested one (stream: %s)",
    async (stream) => {
      const response = await chat("hi", { model: "failing/m", stream }, fallback("failing/n, well/m"));
      expect(await response.text()).toContain("From the fallback.");
      expect(response.headers.get("x-gateway-provider")).toBe("well");
      expect(well.asked.at(-1)?.headers).not.toHaveProperty("x-gateway-fallback");
    },
  );

  it("may name routes and aliases, and unknown names are refused before a request is sent", async () => {
    await admin("PUT", "/admin/settings", { model_routes: { spare: ["failing/m", "well/m"] } });
    const response = await chat("hi", { model: "failing/m" }, fallback("spare"));
    expect(await response.text()).toContain("From the fallback.");
    const asked = failing.asked.length;
    const error = await failsWith(await chat("hi", { model: "failing/m" }, fallback("well/m,nothing")), 400);
    expect(error).toMatchObject({ code: "model_not_found", param: "x-gateway-fallback" });
    expect(error.message).toContain('"nothing"');
    expect(failing.asked.length).toBe(asked);
  });

  it("may name only models that the key may use", async () => {
    const headers = { authorization: "Bearer sk-of-one-model-only", ...fallback("well/m") };
    expect(await failsWith(await chat("hi", { model: "failing/m" }, headers), 403)).toMatchObject({
      code: "permission_denied",
    });
  });

  it("is refused for embeddings and moderations", async () => {
    for (const [path, body] of [
      ["/v1/embeddings", { model: "slow/m", input: "x" }],
      ["/v1/moderations", { input: "x" }],
    ] as const) {
      const response = await api.post(path, body, fallback("well/m"));
      expect(await failsWith(response, 400), path).toMatchObject({ param: "x-gateway-fallback" });
    }
  });
});

it.each([
  ["x-gateway-timeout", "soon"],
  ["x-gateway-retries", "-1"],
])("refuses an invalid %s with a 400 that names it", async (name, value) => {
  for (const [path, body] of [
    ["/v1/chat/completions", { model: "gpt-4o", messages: [{ role: "user", content: "hi" }] }],
    ["/v1/embeddings", { model: "text-embedding-3-small", input: "hi" }],
    ["/v1/audio/speech", { model: "slow/m", input: "hi" }],
  ] as const) {
    expect(await failsWith(await api.post(path, body, { [name]: value }), 400), path).toMatchObject({
      param: name,
    });
  }
});
