import { expect, test } from "vitest";
import { alertRulesSchema } from "../../../../../src/core/config/schemas/alert-schema.ts";
import {
  alertRulesRequestSchema,
  mergeRules,
} from "../../../../../src/operator/admin/monitoring/alert-rules-request.ts";

test("omitted fields of alert rules keep their values", () => {
  const rules = alertRulesSchema.parse({
    error_rate: { enabled: false, threshold: 35, quiet_minutes: 5 },
    budget: { enabled: false },
    queue_depth: { threshold: 77 },
  });
  const changed = mergeRules(rules, alertRulesRequestSchema.parse({ error_rate: { threshold: 5 } }));
  expect(changed).toEqual({ ...rules, error_rate: { enabled: false, threshold: 5, quiet_minutes: 5 } });
  expect(mergeRules(rules, alertRulesRequestSchema.parse({}))).toEqual(rules);
});

test("rejects rules beyond their bounds, and unknown rules", () => {
  expect(alertRulesRequestSchema.safeParse({ error_rate: { threshold: 101 } }).success).toBe(false);
  expect(alertRulesRequestSchema.safeParse({ error_rat: {} }).success).toBe(false);
});
