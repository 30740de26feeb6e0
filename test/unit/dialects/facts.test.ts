import { describe, expect, it } from "vitest";
import { isObject, type JsonObject } from "../../../src/encoding/json.ts";
import { SMALL_REQUESTS } from "../../support/dialect-requests.ts";
import { type MemoryGateway, useMemoryGateway } from "../../support/memory-gateway.ts";
import { ScriptedUpstream } from "../../support/scripted-upstream.ts";
import { completionsScript, events, sessionsScript } from "../../support/upstream-scripts.ts";

/** What providers say of an answer besides its words reaches the caller in each style's own fields, streaming and not. */

const make = useMemoryGateway();

/** A gateway in front of a chat-completions backend that answers with these chunks. */
function backend(...chunks: readonly object[]): Promise<MemoryGateway> {
  const body = [...chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`), "data: [DONE]\n\n"];
  const upstream = new ScriptedUpstream(completionsScript({ turns: () => ({ body }) }));
  return make({ upstream, env: { PROVIDER_DRIVER: "openai" }, config: { accounts: [{ token: "key" }] } });
}

const delta = (fields: object, more: object = {}) => ({
  id: "c1",
  choices: [{ index: 0, delta: fields, finish_reason: null, ...more }],
});
const stop = { id: "c1", choices: [{ index: 0, delta: {}, finish_reason: "stop" }] };

/** One small request in a style: its whole body, or each JSON of its stream. */
async function ask(
  gateway: MemoryGateway,
  dialect: string,
  stream: boolean,
  extra: object = {},
): Promise<JsonObject[]> {
  const { path, body } = SMALL_REQUESTS[dialect] ?? { path: "", body: {} };
  const verb = path.replace(":generateContent", stream ? ":streamGenerateContent" : ":generateContent");
  const wish = verb.includes("/v1beta/") ? {} : { stream };
  const response = await gateway.post(verb, { ...body, ...wish, ...extra });
  const text = await response.text();
  expect(response.status, text).toBe(200);
  await gateway.settle();
  if (!stream) return [JSON.parse(text)];
  return text.split("\n").flatMap((line) => {
    const json = line.replace(/^data: /, "").trim();
    return json.startsWith("{") ? [JSON.parse(json)] : [];
  });
}

/** The last value that a stream or body has under a path. */
function last(items: readonly JsonObject[], ...path: readonly string[]): unknown {
  return items
    .map((item) => path.reduce<unknown>((value, name) => (isObject(value) ? value[name] : undefined), item))
    .findLast((value) => value !== undefined && value !== null);
}

const WAYS = [false, true];

describe("counts of cached and reasoning tokens", () => {
  const stated = {
    id: "c1",
    choices: [],
    usage: {
      prompt_tokens: 100,
      completion_tokens: 20,
      prompt_tokens_details: { cached_tokens: 60, cache_write_tokens: 10 },
      completion_tokens_details: { reasoning_tokens: 8 },
    },
  };
  const told: Record<string, [path: string, usage: object | number]> = {
    "chat-completions": [
      "usage",
      {
        prompt_tokens: 100,
        completion_tokens: 20,
        total_tokens: 120,
        prompt_tokens_details: { cached_tokens: 60, cache_write_tokens: 10 },
        completion_tokens_details: { reasoning_tokens: 8 },
      },
    ],
    completions: [
      "usage",
      {
        prompt_tokens: 100,
        prompt_tokens_details: { cached_tokens: 60 },
        completion_tokens_details: { reasoning_tokens: 8 },
      },
    ],
    responses: [
      "usage",
      {
        input_tokens: 100,
        input_tokens_details: { cached_tokens: 60, cache_write_tokens: 10 },
        output_tokens: 20,
        output_tokens_details: { reasoning_tokens: 8 },
        total_tokens: 120,
      },
    ],
    messages: [
      "usage",
      {
        input_tokens: 30,
        cache_read_input_tokens: 60,
        cache_creation_input_tokens: 10,
        output_tokens: 20,
        output_tokens_details: { thinking_tokens: 8 },
      },
    ],
    "content-generation": [
      "usageMetadata",
      {
        promptTokenCount: 100,
        cachedContentTokenCount: 60,
        candidatesTokenCount: 12,
        thoughtsTokenCount: 8,
        totalTokenCount: 120,
      },
    ],
    "model-runner": ["prompt_eval_count", 100],
  };

  it.each(Object.entries(told))("%s", async (dialect, [path, usage]) => {
    for (const stream of WAYS) {
      const gateway = await backend(delta({ content: "Hi" }), stop, stated);
      const extra = dialect === "completions" && stream ? { stream_options: { include_usage: true } } : {};
      const items = await ask(gateway, dialect, stream, extra);
      const found = last(items, path) ?? last(items, "response", path);
      if (isObject(usage)) expect(found, `stream: ${stream}`).toMatchObject(usage);
      else expect(found).toBe(usage);
    }
  });

  it("come from a provider of the sessions protocol, too", async () => {
    const usage = ["usage", { prompt_tokens: 9, completion_tokens: 3, cached_tokens: 4 }];
    const plan = { events: [["start", { message_id: "m" }], ["text", { text: "Hi" }], usage] };
    const turn = { body: [...events(plan), ...events({ events: [["finish", { reason: "stop" }]] })] };
    const gateway = await make({ upstream: new ScriptedUpstream(sessionsScript({ turns: [turn] })) });
    const items = await ask(gateway, "chat-completions", false);
    expect(last(items, "usage", "prompt_tokens_details", "cached_tokens")).toBe(4);
  });

  it("that nobody states are told as none", async () => {
    const gateway = await backend(delta({ content: "Hi" }), stop);
    const items = await ask(gateway, "messages", false);
    expect(last(items, "usage")).toMatchObject({
      cache_read_input_tokens: 0,
      cache_creation_input_tokens: 0,
    });
  });
});
