import type { AlertRule, RuleKind, WebhookView } from "../../api/alerts.ts";
import { InvalidInput } from "../../ui/forms/form-errors.ts";
import { texts } from "./texts.ts";

/** The kinds of alerts, with their labels. */
export const RULES: readonly {
  readonly kind: RuleKind;
  readonly name: string;
  readonly threshold: string;
  /** What the threshold counts, where its label cannot say it. */
  readonly hint?: string;
}[] = [
  {
    kind: "error_rate",
    name: texts.errorRate,
    threshold: texts.errorRateAboveMin,
    hint: texts.errorRateHint,
  },
  { kind: "queue_depth", name: texts.waitingRequests, threshold: texts.moreThanRequests },
  { kind: "cooling_accounts", name: texts.accountsInCooldown, threshold: texts.atLeastAccounts },
  { kind: "empty_pool", name: texts.availableAccounts, threshold: texts.atMostAccounts },
  { kind: "budget", name: texts.keyBudgets, threshold: texts.usedAlsoAt },
  { kind: "sync_failed", name: texts.hostingSyncFailed, threshold: "" },
  { kind: "provider_down", name: texts.providerDown, threshold: "" },
];

/** The rules whose check boxes are checked in the form of a webhook. */
export const toChosenRules = (webhook: Pick<WebhookView, "rules"> | null): readonly RuleKind[] =>
  webhook?.rules ?? RULES.map(({ kind }) => kind);

/**
 * Converts the checked rules to the member of a webhook: null if all are checked, so that it gets later rules, too.
 *
 * @throws InvalidInput if none is checked
 */
export function parseChosenRules(chosen: readonly RuleKind[]): RuleKind[] | null {
  if (chosen.length === 0) throw new InvalidInput({ rules: texts.noRuleChosen });
  return RULES.every(({ kind }) => chosen.includes(kind)) ? null : [...chosen];
}

/** The names of the rules that a webhook gets; empty: all rules. */
export const describeRules = ({ rules = [] }: Pick<WebhookView, "rules">): string =>
  RULES.flatMap(({ kind, name }) => (rules.includes(kind) ? [name] : [])).join(", ");

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
      if (threshold.trim() === "" || !(value >= 0)) throw new Error(texts.thresholdNotNumber(name));
      const minutes = Number(quiet);
      if (!Number.isInteger(minutes) || minutes < 1) {
        throw new Error(texts.repeatIntervalError(name));
      }
      return [kind, { enabled, threshold: value, quiet_minutes: minutes }];
    }),
  );
}
