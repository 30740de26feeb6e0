import { useState } from "preact/hooks";
import { SelectField, TextField } from "../../ui/forms/field.tsx";
import { FormDialog } from "../../ui/forms/form-dialog.tsx";
import { words } from "../../ui/words.ts";
import { texts } from "./texts.ts";

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
      title={props.name === "" ? texts.addAlias : texts.changeAlias}
      action={texts.saveAlias}
      submit={() => props.onSave(name.trim(), target)}
      onClose={props.onClose}
    >
      <TextField
        label={texts.requestedName}
        value={name}
        onChange={setName}
        required
        mono
        focus
        hint={texts.aliasNameHint}
      />
      <SelectField
        label={words.model}
        value={target}
        onChange={setTarget}
        choices={[...new Set([...props.models, props.target])]
          .filter((id) => id !== "")
          .map((id) => [id, id] as const)}
      />
    </FormDialog>
  );
}
