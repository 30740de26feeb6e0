import type { Guardrail, GuardrailChanges, Guardrails } from "../../api/guardrails.ts";

/** A rule as its fields show it. */
export interface RuleDraft extends Omit<Guardrail, "max_chars" | "timeout_ms"> {
  /** Identifies the rule in the list, because its id can change. */
  readonly key: string;
  readonly max_chars: string;
  readonly timeout_ms: string;
  /** A new token; empty: the stored one stays. */
  readonly token: string;
  readonly removesToken: boolean;
}

/** What the fields of a rule show and change. */
export interface RuleFieldsProps {
  readonly rule: RuleDraft;
  /** The rule's place in the configuration, for errors. */
  readonly path: string;
  readonly onChange: (changes: Partial<RuleDraft>) => void;
}

/** The fields of the form. */
export interface GuardrailsDraft {
  readonly rules: readonly RuleDraft[];
  /** Separated by commas. */
  readonly hosts: string;
  readonly allowsUnchecked: boolean;
}

const toRuleDraft = (rule: Guardrail): RuleDraft => ({
  ...rule,
  key: rule.id,
  max_chars: String(rule.max_chars),
  timeout_ms: String(rule.timeout_ms),
  token: "",
  removesToken: false,
});

export const toGuardrailsDraft = ({
  rules,
  private_hosts,
  unchecked_endpoints,
}: Guardrails): GuardrailsDraft => ({
  rules: rules.map(toRuleDraft),
  hosts: private_hosts.join(", "),
  allowsUnchecked: unchecked_endpoints === "allow",
});

function toRule({
  key: _key,
  token,
  removesToken,
  max_chars,
  timeout_ms,
  ...rule
}: RuleDraft): NonNullable<GuardrailChanges["rules"]>[number] {
  return {
    ...rule,
    max_chars: Number(max_chars),
    timeout_ms: Number(timeout_ms),
    // A token that is left out stays.
    ...(removesToken ? { token: "" } : token !== "" && { token }),
  };
}

/** Converts the fields to the request. */
export const toGuardrailChanges = ({ rules, hosts, allowsUnchecked }: GuardrailsDraft) => ({
  rules: rules.map(toRule),
  private_hosts: hosts.split(/[\s,;]+/).filter((host) => host !== ""),
  unchecked_endpoints: allowsUnchecked ? ("allow" as const) : ("refuse" as const),
});

/** Adds a rule, with another id if there is one with the same. */
export function addRule(
  draft: GuardrailsDraft,
  example: Partial<Guardrail> & Pick<Guardrail, "id" | "type">,
): GuardrailsDraft {
  const taken = new Set(draft.rules.flatMap(({ id, key }) => [id, key]));
  let id = example.id;
  for (let number = 2; taken.has(id); number += 1) id = `${example.id}-${number}`;
  const rule: Guardrail = {
    name: "",
    stage: "both",
    applies_to: "all",
    disabled: false,
    expressions: [],
    max_chars: 0,
    url: "",
    has_token: false,
    model: "",
    timeout_ms: 5_000,
    on_failure: "deny",
    ...example,
    id,
  };
  return { ...draft, rules: [...draft.rules, toRuleDraft(rule)] };
}

/** Changes the rule at a position. */
export const changeRule = (
  draft: GuardrailsDraft,
  index: number,
  changes: Partial<RuleDraft>,
): GuardrailsDraft => ({
  ...draft,
  rules: draft.rules.map((rule, at) => (at === index ? { ...rule, ...changes } : rule)),
});

export const removeRule = (draft: GuardrailsDraft, index: number): GuardrailsDraft => ({
  ...draft,
  rules: draft.rules.toSpliced(index, 1),
});

/** Moves a rule one place up: rules are applied in their order. */
export function moveRuleUp(draft: GuardrailsDraft, index: number): GuardrailsDraft {
  const rule = draft.rules[index];
  if (rule === undefined || index === 0) return draft;
  return { ...draft, rules: draft.rules.toSpliced(index, 1).toSpliced(index - 1, 0, rule) };
}
