import { describe, expect, it } from "vitest";
import { guardrailSchema } from "../../../../src/core/config/schemas/guardrail-schema.ts";
import type { Completion, GenerationEvent } from "../../../../src/core/conversation/events.ts";
import type { Citation } from "../../../../src/core/conversation/sources.ts";
import { Guard } from "../../../../src/gateway/guardrails/guard.ts";
import { memoryPlatform } from "../../../support/memory-platform.ts";

const ruleOf = (action: "mask" | "deny", pattern = "apollo") =>
  guardrailSchema.parse({ id: "rule", type: "expressions", expressions: [{ pattern, action }] });
const USAGE = { prompt: 1, completion: 1, reasoning: 0 };
const ANSWER: Completion = {
  ...{ sessionId: "s", text: "Hi there", reasoning: "", toolCalls: [], finishReason: "stop", usage: USAGE },
};
const citation = (fields: Partial<Citation>): Citation => ({
  ...{ url: "https://example.com/", title: "A page", start: 0, end: 2, claim: { start: 0, text: "Hi" } },
  ...fields,
});
const searched = (fields: Partial<Citation>, queries: readonly string[] = ["news"]) => {
  const { url, title } = citation(fields);
  return { sources: { queries, found: [{ url, title }], citations: [citation(fields)] } };
};
const call = (name: string, id: string) => ({ toolCalls: [{ id, name, arguments: "{}" }] });
const token = (chosen: string, other: string, bytes: readonly number[] | null = null) => ({
  ...{ token: chosen, logprob: -1, bytes: null },
  top: [{ token: other, logprob: -2, bytes }],
});

/** What a caller sees of an answer, whole and streamed. */
async function show(changes: Partial<Completion>, rule = ruleOf("mask")) {
  const answer = { ...ANSWER, ...changes };
  const { text, tokens, toolCalls, finishReason, sources } = answer;
  const access = { platform: await memoryPlatform(), privateHosts: [] };
  const guard = new Guard([rule], access, new AbortController().signal);
  const whole = await guard.checkCompletion(answer);
  const events: GenerationEvent[] = [
    { type: "text", text, ...(tokens === undefined ? {} : { tokens }) },
    ...(sources === undefined
      ? []
      : [{ type: "text", text: "\n\n", separator: { citations: sources.citations } } as const]),
    ...toolCalls.flatMap(({ id, name, arguments: delta }, index): GenerationEvent[] => [
      { type: "tool-call", index, id, name },
      { type: "tool-arguments", index, delta },
      { type: "tool-call-end", index },
    ]),
    { type: "finish", reason: finishReason, usage: USAGE, ...(sources === undefined ? {} : { sources }) },
  ];
  const streamed: GenerationEvent[] = [];
  const stream = guard.guardStream({
    deliver: async (delivered) => {
      streamed.push(...delivered);
    },
    usage: () => USAGE,
  });
  await stream?.deliver(events).catch(() => undefined);
  return { whole, streamed, events };
}

describe("an answer under guardrails", () => {
  it.each<readonly [string, Partial<Completion>]>([
    ["the name of a tool", call("find_apollo", "call_1")],
    ["a title", searched({ title: "The apollo file" })],
    ["an address", searched({ url: "https://example.com/apollo" })],
    ["an escaped address", searched({ url: "https://example.com/%61pollo" })],
    ["a quote", searched({ quoted: "the apollo file" })],
    ["a query", searched({}, ["apollo"])],
  ])("is denied for %s", async (_, changes) => {
    const { whole, streamed } = await show(changes, ruleOf("deny"));
    expect(whole).toMatchObject({ text: "", toolCalls: [], finishReason: "content_filter" });
    expect(streamed.at(-1)).toMatchObject({ type: "finish", reason: "content_filter" });
    expect(JSON.stringify([whole, streamed])).not.toMatch(/apollo|%61pollo/);
  });

  it.each<readonly [string, Partial<Completion>]>([
    ["the name of a tool", call("find_apollo", "call_1")],
    ["an id of a call", call("find", "apollo_1")],
    ["a title", searched({ title: "The apollo file" })],
    ["an address", searched({ url: "https://example.com/apollo" })],
    ["an escaped address", searched({ url: "https://example.com/%61pollo" })],
    ["a quote", searched({ quoted: "the apollo file" })],
    ["a query", searched({}, ["apollo"])],
    ["an alternative token", { tokens: [token("Hi there", "apollo")] }],
    ["the bytes of a token", { tokens: [token("Hi there", "Hi", [...Buffer.from("apollo")])] }],
    ["a token that is not of the text", { tokens: [token("apo", "Hi"), token("llo", "Hi")] }],
    [
      "a token of one of several texts",
      {
        texts: [
          { text: "Hi", start: 0 },
          { text: "there", start: 3, tokens: [token("there", "apollo")] },
        ],
      },
    ],
  ])("hides a text in %s", async (_, changes) => {
    const { whole, streamed } = await show(changes);
    expect(JSON.stringify([whole, streamed])).not.toMatch(/apollo|%61pollo|97,112,111/);
  });

  it("keeps masked titles and queries, the same id for the same call, and the text", async () => {
    const found = await show(searched({ title: "The apollo file", quoted: "of apollo" }, ["apollo"]));
    const sources = {
      queries: ["[removed]"],
      found: [{ url: "https://example.com/", title: "The [removed] file" }],
      citations: [citation({ title: "The [removed] file", quoted: "of [removed]" })],
    };
    expect(found.whole).toEqual({ ...ANSWER, sources });
    expect(found.streamed.at(-1)).toMatchObject({ sources });
    expect(found.streamed.at(-2)).toMatchObject({ separator: { citations: sources.citations } });
    const { whole, streamed } = await show(call("find", "apollo_1"));
    expect(whole.toolCalls[0]?.id).toMatch(/^[\da-z]{9}$/);
    expect(streamed).toContainEqual(expect.objectContaining({ id: whole.toolCalls[0]?.id, name: "find" }));
    const { whole: other } = await show(call("find", "apollo_2"));
    expect(other.toolCalls[0]?.id).not.toBe(whole.toolCalls[0]?.id);
  });

  it("is unchanged without a match, and is not denied for ids that a broad rule matches", async () => {
    const changes = {
      ...{ ...searched({ quoted: "x" }), ...call("find", "call_1") },
      tokens: [token("Hi", "Ho"), token(" there", "you", [...Buffer.from("you")])],
    };
    const { whole, streamed, events } = await show(changes);
    expect(whole).toEqual({ ...ANSWER, ...changes });
    expect(streamed).toEqual(events);
    const broad = await show(call("find", "call_84731"), ruleOf("deny", "\\d{5}"));
    expect(broad.whole.finishReason).toBe("stop");
    expect(JSON.stringify(broad.streamed)).not.toContain("84731");
  });

  it("does not count its sources in a size rule", async () => {
    const size = guardrailSchema.parse({ id: "size", type: "size", max_chars: 20 });
    const { whole } = await show(searched({ title: "x".repeat(100) }), size);
    expect(whole.finishReason).toBe("stop");
  });
});
