import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { CatalogueModel, RouteTarget } from "../../../../../src/core/conversation/model.ts";
import { FirstTokenTimes } from "../../../../../src/gateway/generation/routes/first-token-times.ts";
import {
  orderByStrategy,
  type TargetFacts,
} from "../../../../../src/gateway/generation/routes/route-order.ts";
import "../../../../support/properties.ts";

interface Model {
  readonly id: string;
  readonly context?: number;
  readonly cost?: number;
  readonly firstTokenMs?: number;
}

const target = ({ id, context }: Model): RouteTarget => ({
  model: {
    id,
    upstream: id,
    thinking: false,
    search: false,
    vision: false,
    ...(context === undefined ? {} : { context }),
  },
});

function order(strategy: "cheapest" | "fastest" | "context", models: readonly Model[], promptTokens = 100) {
  const find = ({ id }: CatalogueModel) => models.find((model) => model.id === id);
  const facts: TargetFacts = {
    promptTokens: () => promptTokens,
    findCost: (model) => find(model)?.cost ?? null,
    findFirstTokenMs: (model) => find(model)?.firstTokenMs ?? null,
  };
  return orderByStrategy(strategy, models.map(target), facts).map(({ model: { id } }) => id);
}

describe("the targets of a route", () => {
  it("are ordered by cost, those without a price last", () => {
    const models = [
      { id: "unknown" },
      { id: "dear", cost: 9 },
      { id: "free", cost: 0 },
      { id: "cheap", cost: 1 },
    ];
    expect(order("cheapest", models)).toEqual(["free", "cheap", "dear", "unknown"]);
  });

  it("are ordered by the time until their first token, unmeasured ones first", () => {
    const measuredNow = { id: "measured now", firstTokenMs: Number.POSITIVE_INFINITY };
    const models = [
      measuredNow,
      { id: "slow", firstTokenMs: 900 },
      { id: "fast", firstTokenMs: 90 },
      { id: "new" },
    ];
    expect(order("fastest", models)).toEqual(["new", "fast", "slow", "measured now"]);
  });

  it("are ordered by context: the smallest that is large enough, unknown ones, then the largest of the others", () => {
    const models = [
      { id: "tiny", context: 10 },
      { id: "unknown" },
      { id: "huge", context: 1_000 },
      { id: "small", context: 50 },
      { id: "exact", context: 100 },
    ];
    expect(order("context", models)).toEqual(["exact", "huge", "unknown", "small", "tiny"]);
    expect(order("context", models, 5)).toEqual(["tiny", "small", "exact", "huge", "unknown"]);
  });

  it("keep their order if they are equal", () => {
    const models = [{ id: "b" }, { id: "a" }, { id: "c" }];
    for (const strategy of ["cheapest", "fastest", "context"] as const)
      expect(order(strategy, models)).toEqual(["b", "a", "c"]);
  });

  it("are all tried once, in the same order for the same facts", () => {
    const number = fc.option(fc.oneof(fc.nat(5), fc.double({ min: 0, noNaN: true })), { nil: undefined });
    const model = fc.record({
      context: fc.option(fc.nat(300), { nil: undefined }),
      cost: number,
      firstTokenMs: number,
    });
    fc.assert(
      fc.property(
        fc.constantFrom("cheapest", "fastest", "context"),
        fc.array(model, { maxLength: 20 }),
        fc.nat(300),
        (strategy, drawn, tokens) => {
          const models = drawn.map(({ context, cost, firstTokenMs }, index) => ({
            id: `m${index}`,
            ...(context === undefined ? {} : { context }),
            ...(cost === undefined ? {} : { cost }),
            ...(firstTokenMs === undefined ? {} : { firstTokenMs }),
          }));
          const ordered = order(strategy, models, tokens);
          expect(ordered.toSorted()).toEqual(models.map(({ id }) => id).toSorted());
          expect(order(strategy, models, tokens)).toEqual(ordered);
        },
      ),
    );
  });
});

describe("the times until first tokens", () => {
  const MINUTE = 60_000;

  it("are the median of a model's recent answers", () => {
    const times = new FirstTokenTimes();
    expect(times.find("m", 0)).toBeNull();
    for (const ms of [900, 100, 300]) times.record("m", ms, 0);
    expect(times.find("m", MINUTE)).toBe(300);
    expect(times.find("other", MINUTE)).toBeNull();
  });

  it("expire, so that a model is measured again from time to time", () => {
    const times = new FirstTokenTimes();
    times.record("m", 900, 0);
    times.record("m", 100, 9 * MINUTE);
    expect(times.find("m", 11 * MINUTE)).toBe(100);
    expect(times.find("m", 20 * MINUTE)).toBeNull();
  });

  it("let one request measure a model, and another one after a minute without a result", () => {
    const times = new FirstTokenTimes();
    times.beginTrial("m", 0);
    expect(times.find("m", 1)).toBe(Number.POSITIVE_INFINITY);
    expect(times.find("m", MINUTE)).toBeNull();
    times.beginTrial("m", MINUTE);
    times.record("m", 50, MINUTE + 50);
    expect(times.find("m", MINUTE + 50)).toBe(50);
  });
});
