import type { SettingField } from "../../api/settings.ts";
import { formatCount } from "../../ui/count.ts";
import { AreaField, CheckField, type Choice, SelectField, TextField } from "../../ui/forms/field.tsx";
import { texts } from "./texts.ts";

interface SettingInputProps {
  readonly field: SettingField;
  readonly value: string | boolean;
  readonly changed: boolean;
  readonly onChange: (value: string | boolean) => void;
}

/** The default value, as a text for the user; empty: none is set. */
function formatDefault({ default: value, choices }: SettingField): string {
  if (typeof value === "boolean") return value ? texts.on : texts.off;
  if (typeof value === "number") return formatCount(value);
  return choices.find((choice) => choice.value === value)?.title ?? value;
}

/** The choices of a setting, and its value if it is another one. */
function listChoices({ choices }: SettingField, value: string): readonly Choice[] {
  const known = choices.map((choice): Choice => [choice.value, choice.title]);
  return known.some(([name]) => name === value) ? known : [...known, [value, value]];
}

/** One setting with its description and default, as the server describes it. */
export function SettingInput({ field, value, changed, onChange }: SettingInputProps) {
  const standard = formatDefault(field);
  const hint = (
    <>
      {field.description} {standard !== "" && <span class="default">{texts.default(standard)}</span>}
    </>
  );
  const shared = { label: field.title, path: field.path, hint, onChange };
  const text = String(value);
  const input = () => {
    if (field.kind === "boolean") return <CheckField {...shared} value={value === true} />;
    if (field.kind !== "string") {
      return (
        <TextField
          {...shared}
          type="number"
          value={text}
          {...(field.minimum !== undefined && { min: field.minimum })}
          {...(field.maximum !== undefined && { max: field.maximum })}
        />
      );
    }
    if (field.choices.length > 0) {
      return <SelectField {...shared} choices={listChoices(field, text)} value={text} />;
    }
    return field.multiline ? (
      <AreaField {...shared} rows={4} placeholder={field.placeholder} value={text} />
    ) : (
      <TextField {...shared} placeholder={field.placeholder} value={text} />
    );
  };
  return <div class={changed ? "setting changed" : "setting"}>{input()}</div>;
}
