import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { CheckField, SelectField, TextField } from "../../ui/forms/field.tsx";
import { words } from "../../ui/words.ts";
import { ExpressionFields, NEW_EXPRESSION } from "./expression-fields.tsx";
import type { RuleFieldsProps } from "./guardrail-draft.ts";
import { texts } from "./texts.ts";
import { WebhookFields } from "./webhook-fields.tsx";

interface RulePanelProps extends RuleFieldsProps {
  readonly open: boolean;
  /** Whether the rule is stored: keys may name its id, and its address and token are found by it. */
  readonly isStored: boolean;
  readonly onRemove: () => void;
  /** Absent: the rule is the first one. */
  readonly onMoveUp?: (() => void) | undefined;
}

function pick<const T extends string>(value: string, values: readonly T[], otherwise: T): T {
  return values.find((known) => known === value) ?? otherwise;
}

function KindFields(props: RuleFieldsProps) {
  const { rule, path, onChange } = props;
  switch (rule.type) {
    case "expressions":
      return (
        <ExpressionFields
          expressions={rule.expressions}
          path={`${path}.expressions`}
          onChange={(expressions) => onChange({ expressions })}
        />
      );
    case "size":
      return (
        <div class="setting-grid">
          <TextField
            label={texts.maxChars}
            hint={texts.maxCharsHint}
            type="number"
            min={1}
            value={rule.max_chars}
            path={`${path}.max_chars`}
            onChange={(max_chars) => onChange({ max_chars })}
          />
        </div>
      );
    case "webhook":
      return <WebhookFields {...props} />;
  }
}

/** A rule: one line that opens to its fields. */
export function RulePanel({ open, isStored, onRemove, onMoveUp, ...props }: RulePanelProps) {
  const { rule, path, onChange } = props;
  const label = rule.name || rule.id;
  return (
    <details class="rule" open={open}>
      <summary>
        <strong>{label}</strong> <Badge tone="neutral">{texts.kinds[rule.type]}</Badge>{" "}
        {rule.disabled && <Badge tone="warn">{texts.disabled}</Badge>}{" "}
        <span class="muted">
          {texts.stages[rule.stage]} · {texts.subjects[rule.applies_to]}
        </span>
      </summary>
      <div class="stack">
        <div class="setting-grid">
          <TextField
            label={texts.id}
            hint={isStored ? texts.idIsFixed : texts.idHint}
            mono
            disabled={isStored}
            value={rule.id}
            path={`${path}.id`}
            onChange={(id) => onChange({ id })}
          />
          <TextField
            label={words.name}
            hint={texts.nameHint}
            value={rule.name}
            path={`${path}.name`}
            onChange={(name) => onChange({ name })}
          />
          <SelectField
            label={texts.kind}
            value={rule.type}
            choices={Object.entries(texts.kinds)}
            onChange={(type) =>
              onChange({
                type: pick(type, ["expressions", "size", "webhook"], rule.type),
                ...(rule.expressions.length === 0 && { expressions: [NEW_EXPRESSION] }),
              })
            }
          />
          <SelectField
            label={texts.stage}
            value={rule.stage}
            choices={Object.entries(texts.stages)}
            onChange={(stage) => onChange({ stage: pick(stage, ["before", "after", "both"], rule.stage) })}
          />
          <SelectField
            label={texts.appliesTo}
            hint={texts.appliesToHint}
            value={rule.applies_to}
            choices={Object.entries(texts.subjects)}
            onChange={(subject) => onChange({ applies_to: pick(subject, ["all", "keys"], rule.applies_to) })}
          />
          <CheckField
            label={texts.isDisabled}
            value={rule.disabled}
            onChange={(disabled) => onChange({ disabled })}
          />
        </div>
        <KindFields {...props} />
        <div class="actions">
          {onMoveUp !== undefined && (
            <Button label={texts.moveUpNamed(label)} onClick={onMoveUp}>
              {texts.moveUp}
            </Button>
          )}
          <Button kind="danger" label={texts.removeNamed(label)} onClick={onRemove}>
            {words.remove}
          </Button>
        </div>
      </div>
    </details>
  );
}
