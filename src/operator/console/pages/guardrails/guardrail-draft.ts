import type { GuardrailChanges, Guardrails } from "../../api/guardrails.ts";
import { texts } from "./texts.ts";

/** The fields of the form. */
export interface GuardrailDraft {
  /** JSON. */
  readonly rules: string;
  /** Separated by commas. */
  readonly hosts: string;
  readonly allowsUnchecked: boolean;
}

export function toGuardrailDraft({ rules, private_hosts, unchecked_endpoints }: Guardrails): GuardrailDraft {
  return {
    rules: JSON.stringify(rules, null, 2),
    hosts: private_hosts.join(", "),
    allowsUnchecked: unchecked_endpoints === "allow",
  };
}

type Rules = NonNullable<GuardrailChanges["rules"]>;

/** Parses the list of rules, whose entries the server checks. Throws an error for the user if it is no list. */
function parseRules(text: string): Rules {
  let rules: Rules;
  try {
    rules = JSON.parse(text.trim() === "" ? "[]" : text);
  } catch {
    throw new Error(texts.notJson);
  }
  if (!Array.isArray(rules)) throw new Error(texts.notJson);
  return rules;
}

/** Converts the fields to the request. Throws an error for the user if the rules are no list. */
export function toGuardrailChanges({ rules, hosts, allowsUnchecked }: GuardrailDraft): GuardrailChanges {
  return {
    rules: parseRules(rules),
    private_hosts: hosts.split(/[\s,;]+/).filter((host) => host !== ""),
    unchecked_endpoints: allowsUnchecked ? "allow" : "refuse",
  };
}
