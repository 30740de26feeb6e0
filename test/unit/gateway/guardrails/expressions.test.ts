import { describe, expect, it } from "vitest";
import { type Guardrail, guardrailSchema } from "../../../../src/core/config/schemas/guardrail-schema.ts";
import { BREAK_CHARS, Breaks } from "../../../../src/gateway/guardrails/breaks.ts";
import { maskLongText, maskText } from "../../../../src/gateway/guardrails/expressions.ts";

const rule = (pattern: string, action: "deny" | "mask"): Guardrail =>
  guardrailSchema.parse({ id: "rule", type: "expressions", expressions: [{ pattern, action }] });

describe("a long text", () => {
  const secret = "s".repeat(1_000);
  const mask = [rule("s{1000}", "mask"), rule("[0-9]{4}-[0-9]{4}", "mask")];

  it.each([0, 1, 500, 999, 1_000, 1_001, 1_100])(
    "is masked as a whole, also %d characters before a piece ends",
    async (before) => {
      const start = "x ".repeat(BREAK_CHARS / 2).slice(before);
      const text = `${start}${secret}, 1234-5678 ${"y ".repeat(BREAK_CHARS)}`;
      const masked = await maskLongText(mask, text, new Breaks());
      expect(masked === maskText(mask, text)).toBe(true);
      expect(masked).not.toMatch(/s{1000}|1234/);
      await expect(maskLongText([rule("s{1000}, [0-9]", "deny")], text, new Breaks())).rejects.toMatchObject({
        code: "content_filter",
      });
    },
  );

  it("is checked in pieces with pauses for other work, as many short texts are", async () => {
    let turns = 0;
    let isDone = false;
    const count = () => {
      turns += 1;
      if (!isDone) setTimeout(count, 0);
    };
    setTimeout(count, 0);
    await maskLongText(mask, "x ".repeat(5 * BREAK_CHARS), new Breaks());
    expect(turns).toBeGreaterThanOrEqual(10);
    turns = 0;
    const breaks = new Breaks();
    for (let n = 0; n < 10_000; n += 1) await maskLongText(mask, "short", breaks);
    expect(turns).toBeGreaterThanOrEqual(5);
    isDone = true;
  });
});
