import { AreaField, CheckField, SelectField, TextField } from "../../ui/field.tsx";
import type { Setting } from "./setting-list.ts";
import { texts } from "./texts.ts";

interface SettingFieldProps {
  readonly setting: Setting;
  readonly value: string | boolean;
  readonly changed: boolean;
  /** Error message; empty: no error. */
  readonly fault: string;
  /** Placeholder of an empty text field. */
  readonly placeholder: string;
  readonly onChange: (value: string | boolean) => void;
}

/** One setting with its description and default. */
export function SettingField({ setting, value, changed, fault, placeholder, onChange }: SettingFieldProps) {
  const { name, meaning, standard, kind } = setting;
  const hint = (
    <>
      {meaning} <span class="default">{texts.default(standard)}</span>
    </>
  );
  const shared = { label: name, hint, error: fault, onChange };
  const field = () => {
    switch (kind.type) {
      case "switch":
        return <CheckField {...shared} value={value === true} />;
      case "number":
        return (
          <TextField
            {...shared}
            label={kind.unit === "" ? name : `${name} (${kind.unit})`}
            type="number"
            min={kind.min}
            max={kind.max}
            value={String(value)}
          />
        );
      case "choice":
        return <SelectField {...shared} choices={kind.choices} value={String(value)} />;
      case "text":
        return <AreaField {...shared} rows={4} placeholder={placeholder} value={String(value)} />;
    }
  };
  return <div class={changed ? "setting changed" : "setting"}>{field()}</div>;
}
