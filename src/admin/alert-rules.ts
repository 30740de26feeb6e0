import type * as z from "zod";
import { type AlertRules, alertRulesSchema } from "../config/schema.ts";
import { sentObject } from "./sent-fields.ts";

/** A rule of which any field may be left out; one that is left out has no default here. */
function sentRule(rule: (typeof alertRulesSchema.shape)[keyof AlertRules]) {
  const { enabled, threshold, quiet_minutes } = rule.unwrap().shape;
  return sentObject(() => ({
    enabled: enabled.unwrap().optional(),
    threshold: threshold.unwrap().optional(),
    quiet_minutes: quiet_minutes.unwrap().optional(),
  })).optional();
}

/** Rules of alerts as they are sent: what is left out stays as it is. */
export const sentRulesSchema = sentObject(() => {
  const { shape } = alertRulesSchema;
  return {
    error_rate: sentRule(shape.error_rate),
    queue_depth: sentRule(shape.queue_depth),
    cooling_accounts: sentRule(shape.cooling_accounts),
    empty_pool: sentRule(shape.empty_pool),
    budget: sentRule(shape.budget),
    sync_failed: sentRule(shape.sync_failed),
  };
});

/** The rules with what was sent about them. */
export function changedRules(rules: AlertRules, sent: z.output<typeof sentRulesSchema>): AlertRules {
  return alertRulesSchema.parse({
    error_rate: { ...rules.error_rate, ...sent.error_rate },
    queue_depth: { ...rules.queue_depth, ...sent.queue_depth },
    cooling_accounts: { ...rules.cooling_accounts, ...sent.cooling_accounts },
    empty_pool: { ...rules.empty_pool, ...sent.empty_pool },
    budget: { ...rules.budget, ...sent.budget },
    sync_failed: { ...rules.sync_failed, ...sent.sync_failed },
  });
}
