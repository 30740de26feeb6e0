import fc from "fast-check";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { lazyLooseObject } from "../../../../src/core/encoding/lazy-schema.ts";
import { isValidUnchanged } from "../../../../src/core/http/fast-validation.ts";
import { chatRequestSchema } from "../../../../src/gateway/dialects/chat-completions/request.ts";
import { messageRequestSchema } from "../../../../src/gateway/dialects/messages/request.ts";
import { chatSchema, generateSchema } from "../../../../src/gateway/dialects/model-runner/request.ts";
import { responsesRequestSchema } from "../../../../src/gateway/dialects/responses/request.ts";

const user = { role: "user", content: [{ type: "text", text: "hi" }], name: null };
const tool = { type: "function", function: { name: "f", parameters: { type: "object" }, strict: true } };
const call = { id: "c", type: "function", function: { name: "f", arguments: "{}" } };
const turns = [
  user,
  { role: "assistant", content: null, tool_calls: [call] },
  { role: "tool", content: "x" },
];

/** Ordinary bodies, and the schemas that take them. */
const BODIES: [name: string, schema: z.ZodType, body: unknown][] = [
  [
    "chat completions",
    chatRequestSchema,
    {
      model: "m",
      messages: turns,
      tools: [tool],
      stream: true,
      temperature: 0.5,
      stop: ["a"],
      other: { x: 1 },
    },
  ],
  [
    "messages",
    messageRequestSchema,
    { model: "m", max_tokens: 5, system: "s", messages: [user], tools: [{ name: "f", input_schema: {} }] },
  ],
  [
    "responses",
    responsesRequestSchema,
    { model: "m", input: [user], reasoning: { effort: "low" }, tools: [] },
  ],
  [
    "model runner",
    chatSchema,
    { model: "m", messages: [{ role: "user", content: "x" }], think: "low", format: "" },
  ],
  [
    "a text to go on with",
    generateSchema,
    { model: "m", prompt: "x", images: ["a"], options: { stop: "s" } },
  ],
];

describe.each(BODIES)("a body of %s", (_, schema, body) => {
  it("is accepted by the fast check", () => {
    expect(isValidUnchanged(schema, body)).toBe(true);
    expect(schema.parse(body)).toEqual(body);
  });

  it("is accepted only if its schema accepts it and returns it unchanged", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.nat(), fc.boolean(), (value, at, removes) => {
        const changed = changedAt(body, at, value, removes);
        if (isValidUnchanged(schema, changed)) expect(schema.parse(changed)).toEqual(changed);
      }),
      { numRuns: 1_000 },
    );
  });
});

/** A copy of a JSON value in which the place of that number, of all of its places, has another value or none. */
function changedAt(body: unknown, at: number, value: unknown, removes: boolean): unknown {
  let places = 0;
  JSON.stringify(body, (_, each) => {
    places += 1;
    return each;
  });
  let place = -1;
  const text = JSON.stringify(body, (_, each) => {
    place += 1;
    if (place !== at % places) return each;
    return removes ? undefined : value;
  });
  return text === undefined ? undefined : JSON.parse(text);
}

describe("a case that the fast check does not decide", () => {
  const field = (schema: z.ZodType) => lazyLooseObject(() => ({ a: schema }));

  it.each<[string, z.ZodType, unknown]>([
    ["a transformed text", z.string().transform(Number), "1"],
    ["a trimmed text", z.string().trim(), " x "],
    ["a text of some form", z.email(), "a@b.test"],
    ["a text that is checked", z.string().regex(/x/), "x"],
    ["a refined value", z.unknown().refine(() => false), 1],
    ["a whole number", z.int(), 1],
    ["a converted number", z.coerce.number(), 1],
    ["a default", z.string().default("x"), "y"],
    ["an object that drops what it does not know", z.object({}), { b: 1 }],
    ["an object that takes nothing else", z.strictObject({}), {}],
    ["exactly one of two", z.xor([z.string(), z.unknown()]), "x"],
    ["a read-only list", z.array(z.string()).readonly(), ["x"]],
  ])("is left to the schema: %s", (_, schema, a) => {
    expect(isValidUnchanged(field(schema), { a })).toBe(false);
  });

  it("includes a member that a schema would not return", () => {
    const value = JSON.parse('{"a":"x","__proto__":{"b":1}}');
    expect(isValidUnchanged(field(z.string()), value)).toBe(false);
    expect(isValidUnchanged(z.record(z.string(), z.unknown()), value)).toBe(false);
  });

  it("includes a required member", () => {
    expect(isValidUnchanged(field(z.unknown()), {})).toBe(false);
    expect(isValidUnchanged(field(z.string()), {})).toBe(false);
    expect(isValidUnchanged(field(z.string().optional()), {})).toBe(true);
  });

  it("includes a recursive schema", () => {
    const own: z.ZodType = z.looseObject({
      get next(): z.ZodType {
        return own.optional();
      },
    });
    expect(isValidUnchanged(own, { next: {} })).toBe(false);
  });

  it("includes a length out of bounds", () => {
    const list = z.array(z.string().min(1).max(2)).min(1).max(2);
    expect(
      [[], ["x"], ["x", "xx"], ["x", "x", "x"], [""], ["xxx"]].map((value) => isValidUnchanged(list, value)),
    ).toEqual([false, true, true, false, false, false]);
  });
});
