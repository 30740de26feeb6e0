import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { estimateTokens } from "../../../../../src/core/conversation/tokens.ts";
import { UsageCount } from "../../../../../src/gateway/generation/assembly/usage-count.ts";
import { readUsage } from "../../../../../src/gateway/providers/json.ts";
import "../../../../support/properties.ts";

const PROMPT = "How many words does this prompt have?";
const ANSWER = { rawText: "It has seven words.", rawReasoning: "Let me count them." };
const ESTIMATE = {
  prompt: estimateTokens(PROMPT),
  completion: estimateTokens(ANSWER.rawText) + estimateTokens(ANSWER.rawReasoning),
};

function counted(stated: readonly Readonly<Record<string, unknown>>[], context?: number) {
  const count = new UsageCount(context);
  for (const { prompt, completion, reasoning, cached, cacheWritten } of stated) {
    count.addStatedUsage(readUsage({ prompt, completion, reasoning, cached, cacheWritten }));
    count.endPart();
  }
  return { usage: count.total(PROMPT, ANSWER), isRefused: count.hasImplausibleCount };
}

describe("the token counts of a generation", () => {
  it("are those that the provider states, if they are plausible", () => {
    const stated = {
      prompt: 900_000,
      completion: 120_000,
      reasoning: 119_000,
      cached: 800_000,
      cacheWritten: 5,
    };
    expect(counted([stated])).toEqual({ usage: stated, isRefused: false });
    expect(counted([{ prompt: 30_000_000, completion: 7 }]).usage).toMatchObject({ prompt: 30_000_000 });
  });

  it.each([2 ** 53, 1e30, 1.7e308, Number.POSITIVE_INFINITY, 1e12])(
    "are estimated instead of %d",
    (count) => {
      const { usage, isRefused } = counted([
        { prompt: count, completion: count, reasoning: count, cached: count },
      ]);
      expect(usage).toMatchObject(ESTIMATE);
      expect(usage.cached ?? 0).toBeLessThanOrEqual(usage.prompt);
      expect(isRefused).toBe(true);
    },
  );

  it.each([-5, Number.NaN, "12", null, undefined, true, {}])(
    "are estimated if the provider states %j",
    (count) => {
      expect(counted([{ prompt: count, completion: count }])).toMatchObject({
        usage: ESTIMATE,
        isRefused: false,
      });
      expect(counted([{ prompt: 9, completion: count }]).usage).toMatchObject({
        prompt: 9,
        completion: ESTIMATE.completion,
      });
    },
  );

  it("are those that the provider states, also if zero", () => {
    const none = { prompt: 0, completion: 0, reasoning: 0 };
    expect(counted([none]).usage).toEqual(none);
    expect(counted([{ prompt: 0, completion: 9 }]).usage).toEqual({ ...none, completion: 9 });
    expect(counted([{ prompt: 0, completion: 0 }, { completion: 3 }]).usage).toEqual({
      ...none,
      completion: 3,
    });
    expect(counted([{ completion: 9 }]).usage.prompt).toBe(ESTIMATE.prompt);
  });

  it("are limited by the model's context, if known", () => {
    expect(counted([{ prompt: 100_000, completion: 3 }], 8_000)).toMatchObject({
      usage: { prompt: 100_000 },
      isRefused: false,
    });
    expect(counted([{ prompt: 130_000, completion: 3 }], 8_000)).toMatchObject({
      usage: { prompt: ESTIMATE.prompt, completion: 3 },
      isRefused: true,
    });
  });

  it("are safe integers, and not smaller than their parts, for any stated counts", () => {
    const number = fc.oneof(
      fc.double(),
      fc.constantFrom(2 ** 53, 2 ** 53 - 1, 1e308, -5, 0.5, "12", null),
      fc.nat(100_000_000),
    );
    const turn = fc.record(
      { prompt: number, completion: number, reasoning: number, cached: number, cacheWritten: number },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(
        fc.array(turn, { maxLength: 5 }),
        fc.option(fc.integer({ min: 1, max: 2 ** 53 - 1 })),
        (turns, context) => {
          const { usage } = counted(turns, context ?? undefined);
          for (const count of Object.values(usage)) {
            expect(Number.isSafeInteger(count) && count >= 0).toBe(true);
          }
          expect(usage.reasoning).toBeLessThanOrEqual(usage.completion);
          expect((usage.cached ?? 0) + (usage.cacheWritten ?? 0)).toBeLessThanOrEqual(usage.prompt);
        },
      ),
    );
  });
});
