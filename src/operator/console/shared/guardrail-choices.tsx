import { readGuardrails } from "../api/guardrails.ts";
import { CheckField } from "../ui/forms/field.tsx";
import { useLoaded } from "../ui/loading/use-loaded.ts";
import { texts } from "./texts.ts";

interface GuardrailChoicesProps {
  /** Ids of the guardrails that a key, team, user or tag names. */
  readonly chosen: readonly string[];
  readonly onChange: (chosen: readonly string[]) => void;
}

/** Checkboxes for the guardrails that apply only where they are named. Nothing if there are none. */
export function GuardrailChoices({ chosen, onChange }: GuardrailChoicesProps) {
  const { data } = useLoaded(readGuardrails);
  const rules = (data?.rules ?? []).filter(({ applies_to }) => applies_to === "keys");
  const choose = (rule: string, isChosen: boolean) => {
    const others = chosen.filter((id) => id !== rule);
    onChange(isChosen ? [...others, rule] : others);
  };
  if (rules.length === 0) return null;
  return (
    <fieldset class="style-choices">
      <legend>{texts.guardrails}</legend>
      <p class="hint">{texts.rulesForAllApplyToo}</p>
      {rules.map(({ id, name }) => (
        <CheckField
          key={id}
          label={name || id}
          value={chosen.includes(id)}
          onChange={(isChosen) => choose(id, isChosen)}
        />
      ))}
    </fieldset>
  );
}
