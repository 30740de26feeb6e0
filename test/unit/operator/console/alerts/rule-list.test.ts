import { expect, test } from "vitest";
import {
  parseRules,
  RULES,
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
