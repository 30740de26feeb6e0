import { describe, expect, test } from "vitest";
import {
  parseScope,
  summarizeScope,
  toLimitDraft,
} from "../../../../../src/operator/console/shared/limit-draft.ts";

const NONE = { limits: {}, models: [], dialects: [], networks: [], allowed_tags: [] };

describe("the limits of a key in its form", () => {
  test("keep their values, also those that the console does not know", () => {
    const scope = {
      limits: { requests_per_minute: 60, cost_per_day: 0.5, not_known_yet: 7 },
      models: ["a", "b*"],
      dialects: ["messages"],
      networks: ["192.0.2.0/24"],
      allowed_tags: ["batch", "team-*"],
    };
    expect(parseScope(toLimitDraft(scope), scope)).toEqual(scope);
    expect(parseScope(toLimitDraft(null), null)).toEqual(NONE);
  });

  test("are removed when their field is emptied", () => {
    const scope = { ...NONE, limits: { requests_per_minute: 60 }, models: ["a"] };
    const draft = { ...toLimitDraft(scope), requests_per_minute: " ", models: "" };
    expect(parseScope(draft, scope)).toEqual(NONE);
  });

  test("accept the usual separators in lists", () => {
    expect(parseScope({ models: "a, b;c\n a" }, null).models).toEqual(["a", "b", "c"]);
  });

  test.each([
    ["tokens_per_day", "1.5", "Tokens per day: a whole number"],
    ["max_parallel", "-1", "Concurrent requests: a whole number"],
    ["cost_per_month", "much", "Cost per month: a number"],
  ])("are refused with the %s %s", (name, text, words) => {
    expect(() => parseScope({ [name]: text }, null)).toThrow(words);
  });

  test("are summarized in a few words", () => {
    expect(summarizeScope(NONE)).toBe("");
    expect(summarizeScope({ ...NONE, models: ["a", "b"], allowed_tags: ["batch"] })).toBe(
      "Models: a, b · Allowed tags: batch",
    );
  });
});
