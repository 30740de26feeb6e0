import { describe, expect, test } from "vitest";
import { useMemoryGateway } from "../../../support/memory-gateway.ts";
import { type Reply, ScriptedUpstream, type UpstreamRequest } from "../../../support/scripted-upstream.ts";

/** Text completions of a provider with that endpoint, and of one without it. */

const createGateway = useMemoryGateway();

const provider = {
  id: "vendor",
  driver: "openai",
  base_url: "http://vendor.test/v1",
  token: "sk-of-the-account",
  models: { mine: "real-name" },
};

function behind(reply: (asked: UpstreamRequest) => Reply) {
  return createGateway({ upstream: new ScriptedUpstream(reply), config: { providers: [provider] } });
}

const ANSWER =
  '{"id":"cmpl-1","object":"text_completion","model":"snapshot","choices":[{"index":0,"text":"Hi","logprobs":{"tokens":["Hi"],"new":1.0},"finish_reason":"stop"},{"index":1,"text":"Ho","logprobs":null,"finish_reason":"length"}],"usage":{"prompt_tokens":7,"completion_tokens":3,"total_tokens":10},"kv_transfer_params":null}';

const chunk = (more: object) => `data: ${JSON.stringify({ id: "c", model: "snapshot", ...more })}\n\n`;
const textChunk = (text: string, finish_reason: string | null = null) =>
  chunk({ choices: [{ index: 0, text, logprobs: null, finish_reason, new: 1 }] });

const chatAnswer = {
  json: {
    id: "c1",
    model: "snapshot",
    choices: [{ index: 0, message: { role: "assistant", content: "Hi" }, finish_reason: "stop" }],
    usage: { prompt_tokens: 7, completion_tokens: 3 },
  },
};

const post = async (gateway: Awaited<ReturnType<typeof behind>>, body: string | object) => {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return gateway.post("/v1/completions", null, { body: text });
};

describe("a text completion of a provider that has the endpoint", () => {
  test.each([
    '{"model":"vendor/mine", "prompt":"Once", "n":2,"best_of":3,"logprobs":1, "min_tokens":1.0,"suffix":"end"}',
    '{"prompt":["One","Two"],"model":"vendor/mine","guided_choice":["a","b"]}',
    '{"prompt":[[1,2],[3]],"model":"vendor/mine","max_tokens":7,"echo":true,"n":2}',
  ])("is passed on unchanged in both directions: %s", async (text) => {
    const gateway = await behind(() => ({ type: "application/json", body: [ANSWER] }));
    const response = await post(gateway, text);
    expect(await response.text()).toBe(ANSWER.replace("snapshot", "vendor/mine"));
    expect(response.headers.get("x-gateway-path")).toBe("native");
    expect(gateway.upstream.asked).toHaveLength(1);
    expect(gateway.upstream.asked[0]?.path).toBe("/v1/completions");
    expect(gateway.upstream.asked[0]?.body).toBe(text.replace('"vendor/mine"', '"real-name"'));
    expect((await gateway.history())[0]).toMatchObject({
      path: "native",
      content: "Hi",
      prompt_tokens: 7,
      completion_tokens: 3,
    });
  });

  test("is streamed event by event", async () => {
    const events = [textChunk("Hi"), textChunk(" there"), textChunk("", "stop")];
    const usage = chunk({ choices: [], usage: { prompt_tokens: 7, completion_tokens: 3 } });
    const gateway = await behind(() => ({ body: [...events, usage, "data: [DONE]\n\n"] }));
    const response = await post(gateway, { model: "vendor/mine", prompt: "Once", stream: true });
    const named = events.join("").replaceAll('"snapshot"', '"vendor/mine"');
    expect(await response.text()).toBe(`${named}data: [DONE]\n\n`);
    expect((await gateway.history())[0]).toMatchObject({ content: "Hi there", prompt_tokens: 7 });
  });

  test("ends with an error event where the provider's stream is cut", async () => {
    const gateway = await behind(() => ({ body: [textChunk("Hi"), "reset"] }));
    const response = await post(gateway, { model: "vendor/mine", prompt: "Once", stream: true });
    const text = await response.text();
    expect(text).toContain("upstream_error");
    expect(text).not.toContain("[DONE]");
  });

  test("is refused with the provider's message, also for a missing model", async () => {
    const error = { message: "The model `real-name` does not exist", code: "model_not_found" };
    const gateway = await behind(() => ({ status: 404, json: { error } }));
    const response = await post(gateway, { model: "vendor/mine", prompt: "Once" });
    expect(response.status).toBe(404);
    expect(JSON.parse(await response.text()).error.message).toContain(error.message);
    expect(gateway.upstream.asked).toHaveLength(1);
  });
});

describe("a text completion of a provider without the endpoint", () => {
  const CHAT_MODEL =
    "This is a chat model and not supported in the v1/completions endpoint. Did you mean to use v1/chat/completions?";

  test.each<[string, Reply]>([
    ["404 without words", { status: 404, json: {} }],
    ["405", { status: 405, json: { detail: "Method Not Allowed" } }],
    ["a chat model", { status: 404, json: { error: { message: CHAT_MODEL, param: "model" } } }],
  ])("becomes a chat completion: %s", async (_, refusal) => {
    const gateway = await behind((asked) => (asked.path === "/v1/completions" ? refusal : chatAnswer));
    for (const paths of [["/v1/completions", "/v1/chat/completions"], ["/v1/chat/completions"]]) {
      gateway.upstream.asked.length = 0;
      const response = await post(gateway, { model: "vendor/mine", prompt: "Once", echo: true });
      const answer = JSON.parse(await response.text());
      expect(answer).toMatchObject({ object: "text_completion", choices: [{ text: "OnceHi" }] });
      expect(response.headers.get("x-gateway-path")).toBe("translated");
      expect(gateway.upstream.asked.map(({ path }) => path)).toEqual(paths);
    }
    expect(await gateway.history()).toHaveLength(2);
    for (const record of await gateway.history()) {
      expect(record).toMatchObject({ path: "translated", status: "success" });
    }
  });

  test("is refused if a chat completion cannot express it", async () => {
    const gateway = await behind((asked) =>
      asked.path === "/v1/completions" ? { status: 404, json: {} } : chatAnswer,
    );
    const response = await post(gateway, { model: "vendor/mine", prompt: ["One", "Two"] });
    expect(response.status).toBe(400);
    expect(JSON.parse(await response.text()).error.param).toBe("prompt");
  });
});
