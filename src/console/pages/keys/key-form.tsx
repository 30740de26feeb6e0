import { useState } from "preact/hooks";
import { type ApiKey, addKey, changeKey } from "../../api/config.ts";
import { CopyButton } from "../../ui/copy-button.tsx";
import type { EditFormProps } from "../../ui/editing.tsx";
import { TextField } from "../../ui/field.tsx";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { newKey } from "./full-key.ts";
import { draftOf, scopeOf } from "./limit-draft.ts";
import { LimitFields } from "./limit-fields.tsx";

interface KeyFormProps extends EditFormProps {
  /** Null for a new one. */
  readonly apiKey: ApiKey | null;
}

/** Adds a key, with a good one proposed, or changes the labels of one, and what it may use. */
export function KeyForm({ apiKey, onClose, onSaved }: KeyFormProps) {
  const [key, setKey] = useState(newKey);
  const [name, setName] = useState(apiKey?.name ?? "");
  const [remark, setRemark] = useState(apiKey?.remark ?? "");
  const [draft, setDraft] = useState(() => draftOf(apiKey));
  const submit = async () => {
    const labels = { name, remark, ...scopeOf(draft, apiKey) };
    if (apiKey === null) {
      await addKey({ key, ...labels });
      return onSaved("Key added");
    }
    await changeKey(apiKey.id, labels);
    return onSaved("Key saved");
  };
  return (
    <FormDialog
      title={apiKey === null ? "Add key" : `Key ${apiKey.key}`}
      action={apiKey === null ? "Add key" : "Save"}
      submit={submit}
      onClose={onClose}
      wide
      {...(apiKey === null && { extra: <CopyButton text={key} name="Copy key" /> })}
    >
      {apiKey === null && (
        <TextField
          label="Key"
          value={key}
          onChange={setKey}
          required
          mono
          hint="A random one, made in this browser. You may write your own."
        />
      )}
      <TextField label="Name" value={name} onChange={setName} hint="Who or what uses it." focus />
      <TextField label="Remark" value={remark} onChange={setRemark} />
      <LimitFields draft={draft} onChange={setDraft} />
    </FormDialog>
  );
}
