import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Guardrail, guardrailSchema } from "../../../../src/core/config/schemas/guardrail-schema.ts";
import type { GenerationEvent } from "../../../../src/core/conversation/events.ts";
import { compileExpression, maskText } from "../../../../src/gateway/guardrails/expressions.ts";
import { GuardedStream, HELD_CHARS } from "../../../../src/gateway/guardrails/guarded-stream.ts";
import { memoryPlatform } from "../../../support/memory-platform.ts";

const rule = (fields: Partial<Guardrail>): Guardrail =>
  guardrailSchema.parse({ id: "rule", type: "expressions", ...fields });
const expression = (pattern: string, action: "deny" | "mask" = "mask", replacement = "***") => ({
  pattern,
  action,
  replacement,
});
const FINISH: GenerationEvent = {
  type: "finish",
  reason: "stop",
  usage: { prompt: 1, completion: 2, reasoning: 0 },
};

/** The events that a caller sees, and the longest delay of a character. */
async function run(rules: readonly Guardrail[], events: readonly GenerationEvent[]) {
  const shown: GenerationEvent[] = [];
  let given = 0;
  let longestDelay = 0;
  const stream = new GuardedStream(rules, {
    access: { platform: await memoryPlatform(), privateHosts: [] },
    signal: new AbortController().signal,
    deliver: (delivered) => {
      shown.push(...delivered);
      return undefined;
    },
    usage: () => ({ prompt: 1, completion: 1, reasoning: 0 }),
  });
  let error: unknown = null;
  try {
    for (const event of events) {
      if (event.type === "text") given += event.text.length;
      await stream.deliver([event]);
      longestDelay = Math.max(longestDelay, given - textOf(shown).length);
    }
  } catch (thrown) {
    error = thrown;
  }
  return { shown, error, longestDelay };
}

const kindOf = (kind: "text" | "reasoning", events: readonly GenerationEvent[]) =>
  events.map((event) => (event.type === kind ? event.text : "")).join("");
const textOf = (events: readonly GenerationEvent[]) => kindOf("text", events);
const callOf = (args: string, name = "f", id = "c"): GenerationEvent[] => [
  { type: "tool-call", index: 0, id, name },
  { type: "tool-arguments", index: 0, delta: args },
  { type: "tool-call-end", index: 0 },
];
const pieces = (text: string, size: number, type: "text" | "reasoning" = "text"): GenerationEvent[] =>
  Array.from({ length: Math.ceil(text.length / size) }, (_, index) => ({
    type,
    text: text.slice(index * size, (index + 1) * size),
  }));

describe("a guarded stream", () => {
  it("masks the same as in a whole text for any split, and delays little", async () => {
    const rules = [
      rule({ expressions: [expression("[0-9]{4}-[0-9]{4}"), expression("(?i)secret", "mask", "")] }),
    ];
    const word = fc.oneof(
      fc.constantFrom("1234-5678", "SECRET", "secre", "1234-", "a b", " ", "\n", "ä", "😀", "x".repeat(90)),
      fc.string({ maxLength: 12 }),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(word, { maxLength: 120 }),
        fc.integer({ min: 1, max: 40 }),
        async (words, size) => {
          const text = words.join(" ");
          const { shown, longestDelay } = await run(rules, [...pieces(text, size), FINISH]);
          expect(textOf(shown)).toBe(maskText(rules, text));
          expect(shown.at(-1)).toEqual(FINISH);
          const removed = text.length - maskText(rules, text).length;
          expect(longestDelay).toBeLessThan(2 * HELD_CHARS + size + Math.max(0, removed) + 200);
        },
      ),
    );
  });

  it("passes on events without a match unchanged", async () => {
    const token = { token: "Hi", logprob: -1, bytes: null, top: [] };
    const events: GenerationEvent[] = [
      { type: "start", sessionId: "s" },
      { type: "reasoning", text: "why" },
      { type: "text", text: "Hi", tokens: [token] },
      { type: "text", text: "\n\n", separator: { citations: [] } },
      { type: "tool-call", index: 0, id: "c", name: "f" },
      { type: "tool-arguments", index: 0, delta: '{"a": ' },
      { type: "tool-arguments", index: 0, delta: "1}" },
      { type: "tool-call-end", index: 0 },
      FINISH,
    ];
    expect((await run([rule({ expressions: [expression("secret")] })], events)).shown).toEqual(events);
  });

  it("ends a denied answer as filtered, and shows nothing of the match", async () => {
    const before = `${"All is well. ".repeat(100)}`;
    const rules = [rule({ expressions: [expression("forbidden word", "deny")] })];
    const { shown, error } = await run(rules, [...pieces(`${before}forbidden word and more`, 7), FINISH]);
    expect(before.startsWith(textOf(shown))).toBe(true);
    expect(textOf(shown).length).toBeGreaterThan(before.length - 3 * HELD_CHARS);
    expect(shown.at(-1)).toMatchObject({ type: "finish", reason: "content_filter" });
    expect(error).toMatchObject({ status: 400, code: "content_filter" });
    expect(JSON.stringify(String(error))).not.toContain("forbidden word");
  });

  it("masks strings of arguments and leaves them JSON; a denied call is not shown", async () => {
    const call: GenerationEvent[] = [
      { type: "tool-call", index: 0, id: "c", name: "send" },
      { type: "tool-arguments", index: 0, delta: '{"to":"a\\u0040b.example","te' },
      { type: "tool-arguments", index: 0, delta: 'xt":["x"]}' },
      { type: "tool-call-end", index: 0 },
      FINISH,
    ];
    const masked = await run([rule({ expressions: [expression("a@b\\.example", "mask", '"')] })], call);
    const [delta] = masked.shown.flatMap((event) => (event.type === "tool-arguments" ? [event.delta] : []));
    expect(JSON.parse(delta ?? "")).toEqual({ to: '"', text: ["x"] });
    const denied = await run([rule({ expressions: [expression("a@b", "deny")] })], call);
    expect(denied.shown).toEqual([expect.objectContaining({ type: "finish", reason: "content_filter" })]);
  });

  it("cuts an answer that is too long", async () => {
    const rules = [rule({ type: "size", max_chars: 1_000 })];
    const { shown } = await run(rules, [...pieces("word ".repeat(1_000), 10), FINISH]);
    expect(textOf(shown).length).toBeLessThanOrEqual(1_000);
    expect(shown.at(-1)).toMatchObject({ reason: "content_filter" });
  });
});

describe("a guarded stream whose texts are split by other events", () => {
  const SPLITS: readonly (readonly [string, readonly GenerationEvent[]])[] = [
    ["reasoning", [{ type: "reasoning", text: "hm" }]],
    ["much reasoning", pieces("hm ".repeat(500), 7, "reasoning")],
    ["a call", callOf("{}")],
    ["a long call", callOf(JSON.stringify({ text: "x".repeat(2_000) }))],
    ["a call that is cut off", callOf('{"a').slice(0, 2)],
  ];
  const split = (events: readonly GenerationEvent[]): GenerationEvent[] => [
    { type: "text", text: "say forbidden" },
    ...events,
    { type: "text", text: "word ok" },
    FINISH,
  ];

  it.each(SPLITS)("is denied like a whole answer: %s", async (_, events) => {
    const rules = [rule({ expressions: [expression("forbiddenword", "deny")] })];
    const { shown, error } = await run(rules, split(events));
    expect(error).toMatchObject({ code: "content_filter" });
    expect(shown.at(-1)).toMatchObject({ type: "finish", reason: "content_filter" });
    expect(textOf(shown)).not.toContain("word");
  });

  it.each(SPLITS)("is masked without a rest of the match: %s", async (_, events) => {
    const { shown } = await run([rule({ expressions: [expression("forbiddenword")] })], split(events));
    expect(textOf(shown)).toMatch(/^say (?:forbidden)?\*\*\* ok$/);
  });

  it.each(SPLITS.slice(0, 4))("keeps its order without a match: %s", async (_, events) => {
    const { shown } = await run([rule({ expressions: [expression("secret")] })], split(events));
    // Held text may be shown in other pieces.
    const joined = (list: readonly GenerationEvent[]) => {
      const all: GenerationEvent[] = [];
      for (const event of list) {
        const last = all.at(-1);
        if (last?.type === "reasoning" && event.type === "reasoning")
          all.splice(-1, 1, { type: "reasoning", text: last.text + event.text });
        else all.push(event);
      }
      return all;
    };
    expect(joined(shown)).toEqual(joined(split(events)));
  });

  it("masks the joined text of each kind wherever events split it, as if it were alone", async () => {
    const rules = [rule({ expressions: [expression("[0-9]{4}-[0-9]{4}")] })];
    const word = fc.constantFrom("1234-5678", "1234", "-", "5678", "a b", "x".repeat(60), "😀");
    const event = fc.oneof(
      word.map((text): GenerationEvent[] => [{ type: "text", text }]),
      word.map((text): GenerationEvent[] => [{ type: "reasoning", text }]),
      fc.constant(callOf("{}")),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(event, { maxLength: 60 }), async (groups) => {
        const events = groups.flat();
        const { shown, longestDelay } = await run(rules, [...events, FINISH]);
        for (const kind of ["text", "reasoning"] as const) {
          const masked = kindOf(kind, shown);
          expect(masked).not.toMatch(/[0-9]{4}-[0-9]{4}/);
          if (kindOf(kind, events).length < HELD_CHARS)
            expect(masked.replaceAll(/[-0-9*]/g, "")).toBe(kindOf(kind, events).replaceAll(/[-0-9*]/g, ""));
        }
        expect(shown.filter(({ type }) => type === "tool-call-end").length).toBe(
          events.filter(({ type }) => type === "tool-call-end").length,
        );
        expect(longestDelay).toBeLessThan(2 * HELD_CHARS + 20 * groups.length);
      }),
    );
  });

  it("delays a finished call no longer than text", async () => {
    const rules = [rule({ expressions: [expression("secret")] })];
    const text: GenerationEvent = { type: "text", text: "I look. " };
    const { shown } = await run(rules, [text, ...callOf(JSON.stringify({ text: "x".repeat(600) }))]);
    expect(shown.map(({ type }) => type)).toEqual(["text", "tool-call", "tool-arguments", "tool-call-end"]);
    expect((await run(rules, callOf("{}"))).shown).toEqual(callOf("{}"));
  });
});

describe("an expression", () => {
  it("takes linear time for any pattern, and is refused with features that RE2 lacks", () => {
    const rules = [rule({ expressions: [expression("(a+)+$", "deny")] })];
    expect(maskText(rules, `${"a".repeat(5_000)}b`)).toHaveLength(5_001);
    expect(() => compileExpression("(?=a)")).toThrow();
    expect(() => compileExpression("(a)\\1")).toThrow();
  });

  it("replaces literally, and ignores empty matches", () => {
    expect(maskText([rule({ expressions: [expression("b", "mask", "$1$&")] })], "abc")).toBe("a$1$&c");
    expect(maskText([rule({ expressions: [expression("x*", "mask", "!")] })], "axxb")).toBe("a!b");
  });
});
