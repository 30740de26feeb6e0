import type { Guardrail } from "./schemas/guardrail-schema.ts";

/** A key, user, team or tag that may name rules. */
interface GuardedSubject {
  readonly guardrails?: readonly string[] | undefined;
}

/** The rules that apply to the requests of some subjects. */
export function selectGuardrails(
  { guardrails: { rules } }: { readonly guardrails: { readonly rules: readonly Guardrail[] } },
  listSubjects: () => readonly GuardedSubject[],
): readonly Guardrail[] {
  if (rules.length === 0) return rules;
  const subjects = listSubjects();
  const isNamed = (id: string) => subjects.some(({ guardrails = [] }) => guardrails.includes(id));
  return rules.filter(({ id, disabled, applies_to }) => !disabled && (applies_to === "all" || isNamed(id)));
}
