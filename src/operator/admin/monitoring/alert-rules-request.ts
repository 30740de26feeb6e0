import type * as z from "zod";
import { type AlertRules, alertRulesSchema } from "../../../core/config/schemas/alert-schema.ts";
import { requestObject } from "../request-fields.ts";

/** Request schema of one rule. Every field is optional and has no default. */
function ruleRequestSchema(rule: (typeof alertRulesSchema.shape)[keyof AlertRules]) {
  const { enabled, threshold, quiet_minutes } = rule.unwrap().shape;
  return requestObject(() => ({
    enabled: enabled.unwrap().optional(),
    threshold: threshold.unwrap().optional(),
    quiet_minutes: quiet_minutes.unwrap().optional(),
  })).optional();
}

/** Request schema of the alert rules. Omitted fields keep their values. */
export const alertRulesRequestSchema = requestObject(() => {
  const { shape } = alertRulesSchema;
  return {
    error_rate: ruleRequestSchema(shape.error_rate),
    queue_depth: ruleRequestSchema(shape.queue_depth),
    cooling_accounts: ruleRequestSchema(shape.cooling_accounts),
    empty_pool: ruleRequestSchema(shape.empty_pool),
    budget: ruleRequestSchema(shape.budget),
    sync_failed: ruleRequestSchema(shape.sync_failed),
    provider_down: ruleRequestSchema(shape.provider_down),
  };
});

/** Merges the sent fields into the present rules. */
export function mergeRules(rules: AlertRules, sent: z.output<typeof alertRulesRequestSchema>): AlertRules {
  return alertRulesSchema.parse({
    error_rate: { ...rules.error_rate, ...sent.error_rate },
    queue_depth: { ...rules.queue_depth, ...sent.queue_depth },
    cooling_accounts: { ...rules.cooling_accounts, ...sent.cooling_accounts },
    empty_pool: { ...rules.empty_pool, ...sent.empty_pool },
    budget: { ...rules.budget, ...sent.budget },
    sync_failed: { ...rules.sync_failed, ...sent.sync_failed },
    provider_down: { ...rules.provider_down, ...sent.provider_down },
  });
}
