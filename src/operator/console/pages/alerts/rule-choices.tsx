import { useId } from "preact/hooks";
import type { RuleKind } from "../../api/alerts.ts";
import { CheckField } from "../../ui/forms/field.tsx";
import { useFieldError } from "../../ui/forms/form-errors.ts";
import { RULES } from "./rule-list.ts";
import { texts } from "./texts.ts";

interface RuleChoicesProps {
  readonly chosen: readonly RuleKind[];
  readonly onChange: (chosen: readonly RuleKind[]) => void;
}

/** Checkboxes for the rules whose alerts a webhook gets. */
export function RuleChoices({ chosen, onChange }: RuleChoicesProps) {
  const id = useId();
  const { error = "", onInput } = useFieldError("rules", texts.rules, undefined);
  const choose = (rule: RuleKind, isChosen: boolean) => {
    onInput();
    onChange(
      RULES.map(({ kind }) => kind).filter((kind) => (kind === rule ? isChosen : chosen.includes(kind))),
    );
  };
  return (
    <fieldset class="style-choices" aria-describedby={error === "" ? `${id}-hint` : `${id}-hint ${id}-error`}>
      <legend>{texts.rules}</legend>
      <p class="hint" id={`${id}-hint`}>
        {texts.chosenRulesHint}
      </p>
      {RULES.map(({ kind, name }) => (
        <CheckField
          key={kind}
          label={name}
          value={chosen.includes(kind)}
          onChange={(isChosen) => choose(kind, isChosen)}
        />
      ))}
      {error !== "" && (
        <p class="field-error" id={`${id}-error`}>
          {error}
        </p>
      )}
    </fieldset>
  );
}
