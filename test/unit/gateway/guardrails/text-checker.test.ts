import { describe, expect, it } from "vitest";
import { type Guardrail, guardrailSchema } from "../../../../src/core/config/schemas/guardrail-schema.ts";
import { TextChecker } from "../../../../src/gateway/guardrails/text-checker.ts";

const DENIED = { code: "content_filter" };
const rule = (pattern: string, action: "deny" | "mask"): Guardrail =>
  guardrailSchema.parse({
    id: "rule",
    type: "expressions",
    expressions: [{ pattern, action, replacement: "***" }],
  });
const size = (max_chars: number) => guardrailSchema.parse({ id: "size", type: "size", max_chars });

describe("arguments of tools", () => {
  it.each([
    ['{"a":"FORBIDDEN","a":"x"}', '{"a":"x"}'],
    ['{"a":{"FORBIDDEN":1},"a":"x"}', '{"a":"x"}'],
    ['[{"b":[1,2],"b":"\\u0046ORBIDDEN"}]', '[{"b":"***"}]'],
  ])("hide nothing in repeated members: %s", async (text, expected) => {
    expect(await new TextChecker([rule("FORBIDDEN", "mask")]).maskJson(text)).toBe(expected);
  });

  it.each(['{"a": "x y",\n "b": [1, 2.5, "\\" \\\\"]}', '{"a":"x"}', ' "x" ', "[ ]", "no JSON", ""])(
    "keep their white space: %s",
    async (text) => {
      expect(await new TextChecker([rule("FORBIDDEN", "mask")]).maskJson(text)).toBe(text);
    },
  );
});

describe("numbers", () => {
  it.each(["deny", "mask"] as const)("deny the request if they match: %s", async (action) => {
    const rules = [rule("\\d{16}", action)];
    await expect(new TextChecker(rules).maskJson('{"card":4111111111111111}')).rejects.toMatchObject(DENIED);
    await expect(new TextChecker(rules).maskJson('{"card":4.111111111111111e15}')).rejects.toMatchObject(
      DENIED,
    );
    await expect(
      new TextChecker(rules).maskStrings({ enum: [1, { const: 4111111111111111 }] }),
    ).rejects.toMatchObject(DENIED);
    await expect(new TextChecker(rules).rejectMatches([4111111111111111])).rejects.toMatchObject(DENIED);
  });

  it("keep their digits beside a masked text, and are checked with all of them", async () => {
    const text = '{"id":1234567890123456789,"part":1.0,"say":"FORBIDDEN"}';
    const masked = await new TextChecker([rule("FORBIDDEN", "mask")]).maskJson(text);
    expect(masked).toContain('{"id":1234567890123456789,"part":1.0,');
    const rules = [rule("456789$", "deny")];
    await expect(new TextChecker(rules).maskJson(text)).rejects.toMatchObject(DENIED);
  });

  it("that are limits of integers in a schema are allowed", async () => {
    const schema = { minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER };
    expect(await new TextChecker([rule("\\d{16}", "deny")]).maskStrings(schema)).toEqual(schema);
  });
});

describe("empty texts", () => {
  it("count towards the most that is checked", async () => {
    const strings = Array.from({ length: 101 }, () => "");
    const checker = () => new TextChecker([rule("x", "deny")], 2_000);
    expect(await checker().maskStrings(strings.slice(1))).toHaveLength(100);
    await expect(checker().maskStrings(strings)).rejects.toMatchObject({ code: "request_too_large" });
    await expect(checker().rejectMatches(strings)).rejects.toMatchObject({ code: "request_too_large" });
  });

  it("do not count as characters of a rule", async () => {
    const checker = new TextChecker([size(3)], 2_000);
    expect(await checker.maskStrings(["", "", "abc"])).toEqual(["", "", "abc"]);
    await expect(checker.maskStrings(["d"])).rejects.toMatchObject(DENIED);
  });
});
