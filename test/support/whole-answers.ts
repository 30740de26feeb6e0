import { isObject, type JsonObject } from "../../src/core/encoding/json.ts";
import type { Protocol } from "./fault-body.ts";

/** Non-streamed answers of a backend, built from the events that it would have streamed. */

/** Whether a request wants a non-streamed answer. The content-generation style says so in the path. */
export function wantsWhole(body: string, path = ""): boolean {
  return !/"stream":\s*true/.test(body) && !path.includes(":streamGenerateContent");
}

/** The body. Invalid events lead to an invalid body. */
export function wholeAnswer(protocol: Exclude<Protocol, "sessions">, blocks: readonly string[]): string {
  const events: JsonObject[] = [];
  for (const line of blocks.join("").split(/\r?\n/)) {
    if (!line.startsWith("data: ") || line === "data: [DONE]") continue;
    try {
      const event: unknown = JSON.parse(line.slice(6));
      if (isObject(event)) events.push(event);
    } catch {
      return line.slice(6);
    }
  }
  const failed = events.find(({ error }) => error !== undefined);
  return JSON.stringify(failed ?? FOLDS[protocol](events));
}

const FOLDS = {
  "chat-completions": completionOf,
  responses: responseOf,
  messages: messageOf,
  "content-generation": contentOf,
} as const;

const textIn = (value: unknown): string => (typeof value === "string" ? value : "");
const objects = (value: unknown): JsonObject[] => (Array.isArray(value) ? value.filter(isObject) : []);
const objectIn = (value: unknown): JsonObject => (isObject(value) ? value : {});

/** Merges the deltas: joins texts, and groups calls by index. */
function completionOf(chunks: readonly JsonObject[]): object {
  const texts: Record<string, string> = {};
  const calls: { id: string; name: string; arguments: string }[] = [];
  const tokens: JsonObject[] = [];
  const last: JsonObject = {};
  for (const { id, model, usage, choices } of chunks) {
    Object.assign(last, { id }, model === undefined ? {} : { model }, isObject(usage) ? { usage } : {});
    for (const { delta, finish_reason: reason, logprobs, ...rest } of objects(choices)) {
      Object.assign(last, rest, reason ? { reason } : {});
      tokens.push(...objects(objectIn(logprobs)["content"]));
      for (const [name, value] of Object.entries(objectIn(delta))) {
        if (typeof value === "string" && name !== "role") texts[name] = (texts[name] ?? "") + value;
      }
      for (const { index, id: callId, function: part } of objects(objectIn(delta)["tool_calls"])) {
        const call = calls[Number(index)] ?? { id: "", name: "", arguments: "" };
        calls[Number(index)] = call;
        const { name, arguments: more } = objectIn(part);
        call.id += textIn(callId);
        call.name += textIn(name);
        call.arguments += textIn(more);
      }
    }
  }
  const { id, model, usage, reason = null, ...choice } = last;
  const tool_calls = calls.map(({ id: callId, ...called }) => ({
    id: callId,
    type: "function",
    function: called,
  }));
  const message = {
    role: "assistant",
    content: null,
    ...texts,
    ...(calls.length === 0 ? {} : { tool_calls }),
  };
  const logprobs = tokens.length === 0 ? {} : { logprobs: { content: tokens } };
  return {
    id,
    object: "chat.completion",
    model,
    choices: [{ ...choice, index: 0, message, finish_reason: reason, ...logprobs }],
    usage,
  };
}

/** The last event contains the complete response. */
function responseOf(events: readonly JsonObject[]): object {
  return objectIn(events.at(-1)?.["response"]);
}

/** Joins all parts; the end comes from the last chunk. */
function contentOf(pieces: readonly JsonObject[]): object {
  const candidates = pieces.flatMap((piece) => objects(piece["candidates"]).slice(0, 1));
  const parts = candidates.flatMap(({ content }) => objects(objectIn(content)["parts"]));
  const last = candidates.at(-1) ?? {};
  return { ...pieces.at(-1), candidates: [{ ...last, content: { role: "model", parts } }] };
}

/**
 * Merges the deltas of each block. Input that is not valid JSON becomes an empty object, because this format cannot express
 * it.
 */
function messageOf(events: readonly JsonObject[]): object {
  let message: JsonObject = {};
  const blocks: Record<string, unknown>[] = [];
  const inputs: string[] = [];
  for (const event of events) {
    const index = Number(event["index"]);
    if (event["type"] === "message_start") message = { ...objectIn(event["message"]) };
    if (event["type"] === "content_block_start") blocks[index] = { ...objectIn(event["content_block"]) };
    if (event["type"] === "content_block_delta") {
      const { type: _, partial_json: input, ...texts } = objectIn(event["delta"]);
      inputs[index] = (inputs[index] ?? "") + textIn(input);
      const block = blocks[index] ?? {};
      blocks[index] = block;
      for (const [name, value] of Object.entries(texts)) block[name] = textIn(block[name]) + textIn(value);
    }
    if (event["type"] === "message_delta") {
      Object.assign(message, objectIn(event["delta"]), {
        usage: { ...objectIn(message["usage"]), ...objectIn(event["usage"]) },
      });
    }
  }
  const content = blocks.map((block, index) =>
    block["type"] === "tool_use" ? { ...block, input: parsed(inputs[index] ?? "") } : block,
  );
  return { ...message, content };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}
