import { expect, test } from "vitest";
import {
  describeRules,
  parseChosenRules,
  parseRules,
  RULES,
  toChosenRules,
  toRuleDraft,
} from "../../../../../src/operator/console/pages/alerts/rule-list.ts";

test("keeps the values of rules in the form", () => {
  const rule = { enabled: false, threshold: 12.5, quiet_minutes: 30 };
  for (const { kind } of RULES) expect(parseRules({ [kind]: toRuleDraft(rule) })).toEqual({ [kind]: rule });
});

test.each([
  [{ threshold: "" }, "Error rate: the threshold is not a number"],
  [{ threshold: "-1" }, "Error rate: the threshold is not a number"],
  [{ quiet: "0" }, "Error rate: the repeat interval must be a whole number"],
  [{ quiet: "1.5" }, "Error rate: the repeat interval must be a whole number"],
])("rejects a rule with %j", (part, words) => {
  expect(() => parseRules({ error_rate: { ...toRuleDraft(undefined), ...part } })).toThrow(words);
});

test("a webhook whose rules are all checked also gets later rules", () => {
  expect(parseChosenRules(toChosenRules(null))).toBeNull();
  expect(parseChosenRules(toChosenRules({}))).toBeNull();
  expect(describeRules({})).toBe("");
});

test("a webhook gets the rules that are checked, at least one", () => {
  const rules = ["budget", "empty_pool"] as const;
  expect(parseChosenRules(toChosenRules({ rules: [...rules] }))).toEqual(rules);
  expect(describeRules({ rules: [...rules] })).toBe("Available accounts, Key budgets");
  expect(() => parseChosenRules([])).toThrow("Check at least one rule");
});
