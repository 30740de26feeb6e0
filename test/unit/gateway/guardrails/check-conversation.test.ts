import { expect, it } from "vitest";
import { guardrailSchema } from "../../../../src/core/config/schemas/guardrail-schema.ts";
import type { Message } from "../../../../src/core/conversation/conversation.ts";
import { maskConversation } from "../../../../src/gateway/guardrails/check-conversation.ts";
import { TextChecker } from "../../../../src/gateway/guardrails/text-checker.ts";
import { type ConversationChanges, conversation } from "../../../support/conversations.ts";

const expressions = [{ pattern: "apollo", action: "mask" }];
const rule = guardrailSchema.parse({ id: "rule", type: "expressions", expressions });
const callWith = (id: string): Message => ({
  role: "assistant",
  parts: [],
  toolCalls: [{ id, name: "find", arguments: "{}" }],
});
const resultOf = (callId: string): Message => ({ role: "tool", callId, parts: [] });

it("replaces matching ids of calls, equally in call and result", async () => {
  const { messages } = await maskConversation(
    conversation({
      messages: [
        ...[callWith("the apollo file"), resultOf("the apollo file")],
        ...[callWith("apollo 2"), resultOf("apollo 2"), callWith("call_a"), resultOf("call_a")],
      ],
    }),
    new TextChecker([rule]),
  );
  const ids = messages.map((message) =>
    message.role === "tool" ? message.callId : message.role === "assistant" ? message.toolCalls[0]?.id : "",
  );
  expect(ids).toEqual(["call00001", "call00001", "call00002", "call00002", "call_a", "call_a"]);
});

it("does not deny random ids and cache keys that a broad rule matches", async () => {
  const broad = guardrailSchema.parse({
    ...{ id: "numbers", type: "expressions" },
    expressions: [{ pattern: "\\d{3}" }, { pattern: "[0-9a-f]{8}-[0-9a-f]{4}" }],
  });
  const key = "01890a5d-ac96-774b-bcce-b302099a8057";
  const check = (promptCacheKey: string) =>
    maskConversation(
      conversation({
        messages: [callWith("call_84731"), resultOf("call_84731")],
        options: { promptCacheKey },
      }),
      new TextChecker([broad]),
    );
  const [first, again, other] = [await check(key), await check(key), await check(`${key}x`)];
  expect(first.options.promptCacheKey).toMatch(/^[\da-f]{32}$/);
  expect(again.options.promptCacheKey).toBe(first.options.promptCacheKey);
  expect(other.options.promptCacheKey).not.toBe(first.options.promptCacheKey);
});

it.each([
  ["an effort", { reasoningEffort: "apollo" }],
  ["the length of the answer", { verbosity: "apollo" }],
  ["an id of a token", { logitBias: { apollo: 1 } }],
  ["a modality", { modalities: ["audio", "apollo"] }],
  ["a stop sequence", { stop: ["end", "apollo"] }],
])("denies a text in %s", async (_, options) => {
  const checked = maskConversation(conversation({ options }), new TextChecker([rule]));
  await expect(checked).rejects.toMatchObject({ status: 400, code: "content_filter" });
});

it("denies a text in the size of a web search", async () => {
  const search = conversation({ webSearch: { contextSize: "apollo" } });
  await expect(maskConversation(search, new TextChecker([rule]))).rejects.toMatchObject({
    code: "content_filter",
  });
});

const imageWith = (detail: string, mediaType = "image/png"): Message => ({
  role: "user",
  parts: [{ type: "image", source: { kind: "inline", data: "aGk=", mediaType }, detail }],
});
const fileWith = (mediaType: string): Message => ({
  role: "user",
  parts: [{ type: "file", source: { kind: "url", url: "https://example.com/a" }, mediaType }],
});
const cacheFor = (ttl: string): readonly (readonly [string, ConversationChanges])[] => {
  const cache = { ttl };
  const [call] = [{ id: "a", name: "find", arguments: "{}", cache }];
  return [
    ["a part", { messages: [{ role: "system", parts: [{ type: "text", text: "Hi", cache }] }] }],
    ["a call", { messages: [{ role: "assistant", parts: [], toolCalls: [call] }] }],
    ["a result", { messages: [{ role: "tool", callId: "a", parts: [], cache }] }],
    ["a tool", { tools: [{ name: "find", cache }] }],
    ["the prompt", { cache }],
  ];
};

it.each<readonly [string, ConversationChanges]>([
  ["the detail of an image", { messages: [imageWith("apollo")] }],
  ["the media type of an image", { messages: [imageWith("auto", "image/apollo")] }],
  ["the media type of a file", { messages: [fileWith("the apollo file")] }],
  ...cacheFor("apollo").map(([place, changes]) => [`the lifetime of ${place}`, changes] as const),
])("denies a text in %s", async (_, changes) => {
  const checked = maskConversation(conversation(changes), new TextChecker([rule]));
  await expect(checked).rejects.toMatchObject({ status: 400, code: "content_filter" });
});

it("denies a text in a model name that the caller may have invented", async () => {
  const checked = maskConversation(conversation(), new TextChecker([rule]), "the apollo file");
  await expect(checked).rejects.toMatchObject({ status: 400, code: "content_filter" });
});

it.each(cacheFor("1h"))("does not deny the usual lifetime of %s that a rule matches", async (_, changes) => {
  const expressions = [{ pattern: "1h" }];
  const hours = guardrailSchema.parse({ id: "hours", type: "expressions", expressions });
  const request = conversation(changes);
  expect(await maskConversation(request, new TextChecker([hours]))).toEqual(request);
});

it("does not deny usual options that a broad rule matches", async () => {
  const broad = guardrailSchema.parse({
    id: "broad",
    type: "expressions",
    expressions: [{ pattern: ".{3}" }],
  });
  const options = {
    reasoningEffort: "high",
    verbosity: "low",
    logitBias: { "50256": -100 },
    modalities: ["audio"],
    maxTokens: 4_096,
  };
  const webSearch = { contextSize: "medium" };
  const messages = [imageWith("low"), imageWith("auto", "image/jpeg"), fileWith("application/pdf")];
  const checked = await maskConversation(
    conversation({ messages, options, webSearch }),
    new TextChecker([broad]),
  );
  expect(checked.options).toMatchObject(options);
});
