import type { AlertRule } from "../../api/alerts.ts";

/** The kinds of alerts, with their labels. */
export const RULES: readonly { readonly kind: string; readonly name: string; readonly threshold: string }[] =
  [
    { kind: "error_rate", name: "Error rate", threshold: "Error rate above (%, 5 min)" },
    { kind: "queue_depth", name: "Waiting requests", threshold: "More than (requests)" },
    { kind: "cooling_accounts", name: "Accounts in cooldown", threshold: "At least (accounts)" },
    { kind: "empty_pool", name: "Available accounts", threshold: "At most (accounts)" },
    { kind: "budget", name: "Key budgets", threshold: "Used (%); also at 100 %" },
    { kind: "sync_failed", name: "Hosting sync failed", threshold: "" },
    { kind: "provider_down", name: "Provider down", threshold: "" },
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
      if (threshold.trim() === "" || !(value >= 0)) throw new Error(`${name}: the threshold is not a number`);
      const minutes = Number(quiet);
      if (!Number.isInteger(minutes) || minutes < 1) {
        throw new Error(`${name}: the repeat interval must be a whole number of minutes`);
      }
      return [kind, { enabled, threshold: value, quiet_minutes: minutes }];
    }),
  );
}
