import type { AlertRule } from "../../api/alerts.ts";

/** The kinds of alerts, with their labels. */
export const RULES: readonly { readonly kind: string; readonly name: string; readonly threshold: string }[] =
  [
    { kind: "error_rate", name: "Errors", threshold: "More than so many per cent of five minutes" },
    { kind: "queue_depth", name: "Waiting requests", threshold: "More than" },
    { kind: "cooling_accounts", name: "Accounts that cool down", threshold: "At least" },
    { kind: "empty_pool", name: "Accounts that can serve", threshold: "So few, or fewer" },
    { kind: "budget", name: "Budgets of keys", threshold: "Per cent used, and again at 100" },
    { kind: "sync_failed", name: "Failed hosting syncs", threshold: "" },
    { kind: "provider_down", name: "Providers that are down", threshold: "" },
  ];

/** Input values of a rule form. */
export interface RuleDraft {
  readonly enabled: boolean;
  readonly threshold: string;
  readonly quiet: string;
}

/** Returns the input values for an existing rule. */
export function toRuleDraft(rule: AlertRule | undefined): RuleDraft {
  const { enabled = true, threshold = 0, quiet_minutes: quiet = 60 } = rule ?? {};
  return { enabled, threshold: String(threshold), quiet: String(quiet) };
}

/**
 * Converts the drafts to rules.
 *
 * @throws Error with a message for the user if a value is invalid
 */
export function parseRules(drafts: Readonly<Record<string, RuleDraft>>): Record<string, AlertRule> {
  return Object.fromEntries(
    Object.entries(drafts).map(([kind, { enabled, threshold, quiet }]) => {
      const name = RULES.find((rule) => rule.kind === kind)?.name ?? kind;
      const value = Number(threshold);
      if (threshold.trim() === "" || !(value >= 0)) throw new Error(`${name}: the threshold is no number`);
      const minutes = Number(quiet);
      if (!Number.isInteger(minutes) || minutes < 1) {
        throw new Error(`${name}: the quiet time is a whole number of minutes`);
      }
      return [kind, { enabled, threshold: value, quiet_minutes: minutes }];
    }),
  );
}
