import { useState } from "preact/hooks";
import { SelectField, TextField } from "../../ui/field.tsx";
import { FormDialog } from "../../ui/form-dialog.tsx";

interface AliasFormProps {
  /** Empty: a new alias. */
  readonly name: string;
  readonly target: string;
  readonly models: readonly string[];
  readonly onClose: () => void;
  readonly onSave: (name: string, target: string) => Promise<void>;
}

export function AliasForm(props: AliasFormProps) {
  const [name, setName] = useState(props.name);
  const [target, setTarget] = useState(props.target);
  return (
    <FormDialog
      title={props.name === "" ? "Add alias" : "Change alias"}
      action="Save alias"
      submit={() => props.onSave(name.trim(), target)}
      onClose={props.onClose}
    >
      <TextField
        label="Requested name"
        value={name}
        onChange={setName}
        required
        mono
        focus
        hint="The name in requests. With the suffix -nothinking the model answers without reasoning."
      />
      <SelectField
        label="Model"
        value={target}
        onChange={setTarget}
        choices={[...new Set([...props.models, props.target])]
          .filter((id) => id !== "")
          .map((id) => [id, id] as const)}
      />
    </FormDialog>
  );
}
