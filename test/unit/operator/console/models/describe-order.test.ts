import { describe, expect, it } from "vitest";
import { describeOrder } from "../../../../../src/operator/console/pages/models/describe-order.ts";

const target = { provider: "a", health: "healthy", cost: null, first_token_ms: null, context: null } as const;
const answer = (targets: Parameters<typeof describeOrder>[2]["targets"]) => ({
  prompt_tokens: 1_000,
  completion_tokens: 500,
  targets,
});

describe("the order of a route", () => {
  it("names the cheapest model, and the cost of each", () => {
    const { lead, lines } = describeOrder(
      "cheapest",
      false,
      answer([
        { ...target, model: "a/m", cost: 0.5 },
        { ...target, model: "b/m" },
      ]),
    );
    expect(lead).toMatch(/^a\/m is asked first: it is the cheapest one now.*1,000 tokens in and 500 out/);
    expect(lines).toEqual([expect.stringMatching(/^a\/m: costs .*0\.5/), "b/m: no price, so it comes last"]);
  });

  it("names the cost of each model and the cheapest one, also with another strategy", () => {
    const { lead, lines } = describeOrder(
      "order",
      false,
      answer([
        { ...target, model: "a/m", cost: 0.5 },
        { ...target, model: "b/m", cost: 0.25 },
        { ...target, model: "c/m" },
      ]),
    );
    expect(lead).toMatch(/first in the list\. Costs are for 1,000 tokens in and 500 out\.$/);
    expect(lines).toEqual(["a/m: costs 0.5", "b/m: costs 0.25, the cheapest", "c/m: no price"]);
  });

  it("skips a provider that is down", () => {
    const { lead, lines } = describeOrder(
      "order",
      false,
      answer([
        { ...target, model: "a/m", health: "down" },
        { ...target, model: "b/m" },
      ]),
    );
    expect(lead).toContain("b/m is asked first");
    expect(lines).toEqual(["a/m: is down, so the next one is asked", "b/m"]);
  });

  it("states that weights decide, or that no model exists", () => {
    expect(describeOrder("order", true, answer([{ ...target, model: "a/m" }])).lead).toContain("weights");
    expect(describeOrder("fastest", false, answer([])).lead).toContain("None");
  });
});
