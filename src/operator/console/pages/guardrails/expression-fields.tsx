import { Button } from "../../ui/button.tsx";
import { SelectField, TextField } from "../../ui/forms/field.tsx";
import { words } from "../../ui/words.ts";
import type { RuleDraft } from "./guardrail-draft.ts";
import { texts } from "./texts.ts";

type Expressions = RuleDraft["expressions"];

export const NEW_EXPRESSION: Expressions[number] = { pattern: "", action: "deny", replacement: "[removed]" };

interface ExpressionFieldsProps {
  readonly expressions: Expressions;
  /** The list's place in the configuration, for errors. */
  readonly path: string;
  readonly onChange: (expressions: Expressions) => void;
}

/** The regular expressions of a rule, and what happens to text that matches. */
export function ExpressionFields({ expressions, path, onChange }: ExpressionFieldsProps) {
  const change = (index: number, changes: Partial<Expressions[number]>) =>
    onChange(expressions.map((entry, at) => (at === index ? { ...entry, ...changes } : entry)));
  return (
    <div class="stack">
      {expressions.map(({ pattern, action, replacement }, index) => (
        <fieldset key={index} class="expression">
          <legend>{texts.expression(index + 1)}</legend>
          <TextField
            label={texts.pattern}
            hint={texts.patternHint}
            mono
            value={pattern}
            path={`${path}[${index}].pattern`}
            onChange={(value) => change(index, { pattern: value })}
          />
          <SelectField
            label={texts.action}
            value={action}
            choices={[
              ["deny", texts.deny],
              ["mask", texts.mask],
            ]}
            onChange={(value) => change(index, { action: value === "mask" ? "mask" : "deny" })}
          />
          {action === "mask" && (
            <TextField
              label={texts.replacement}
              mono
              value={replacement}
              onChange={(value) => change(index, { replacement: value })}
            />
          )}
          {expressions.length > 1 && (
            <Button
              kind="quiet"
              label={texts.removeExpression(index + 1)}
              onClick={() => onChange(expressions.toSpliced(index, 1))}
            >
              {words.remove}
            </Button>
          )}
        </fieldset>
      ))}
      <div>
        <Button onClick={() => onChange([...expressions, NEW_EXPRESSION])}>{texts.addExpression}</Button>
      </div>
    </div>
  );
}
