import { useState } from "preact/hooks";
import { type ApiKey, addKey, changeKey } from "../../api/config.ts";
import { CopyButton } from "../../ui/copy-button.tsx";
import type { EditFormProps } from "../../ui/editing.tsx";
import { CheckField, TextField } from "../../ui/field.tsx";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { generateKey } from "./full-key.ts";
import { fromLocalInput, toLocalInput } from "./key-expiry.ts";
import { parseScope, toLimitDraft } from "./limit-draft.ts";
import { LimitFields } from "./limit-fields.tsx";

interface KeyFormProps extends EditFormProps {
  /** null: a new key. */
  readonly apiKey: ApiKey | null;
  /** Called with the secret of a key that was added. */
  readonly onAdded: (secret: string) => void;
}

/** Form that adds a key (with a generated proposal), or changes a key's labels and limits. */
export function KeyForm({ apiKey, version, onClose, onSaved, onAdded }: KeyFormProps) {
  const [key, setKey] = useState(generateKey);
  const [name, setName] = useState(apiKey?.name ?? "");
  const [remark, setRemark] = useState(apiKey?.remark ?? "");
  const [expires, setExpires] = useState(() => toLocalInput(apiKey?.expires ?? 0));
  const [disabled, setDisabled] = useState(apiKey?.disabled ?? false);
  const [draft, setDraft] = useState(() => toLimitDraft(apiKey));
  const submit = async (onSucceeded: () => void, ifMatch: string | undefined) => {
    // The input field has no seconds. If the user did not edit it, keep the exact value.
    const isUnedited = expires === toLocalInput(apiKey?.expires ?? 0);
    const labels = {
      name,
      remark,
      disabled,
      ...(!isUnedited && { expires: fromLocalInput(expires) }),
      ...parseScope(draft, apiKey),
    };
    if (apiKey === null) {
      await addKey({ key, ...labels });
      onSucceeded();
      onAdded(key);
      return onSaved("Key added");
    }
    await changeKey(apiKey.id, labels, ifMatch);
    onSucceeded();
    return onSaved("Key saved");
  };
  return (
    <FormDialog
      title={apiKey === null ? "Add key" : `Key ${apiKey.key}`}
      action={apiKey === null ? "Add key" : "Save"}
      submit={submit}
      version={version}
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
          hint="Generated in this browser. You can enter your own."
        />
      )}
      <TextField label="Name" value={name} onChange={setName} hint="Who or what uses the key." focus />
      <TextField label="Remark" value={remark} onChange={setRemark} />
      <TextField
        label="Expires"
        type="datetime-local"
        value={expires}
        onChange={setExpires}
        hint="In your time zone. Empty: never."
      />
      <CheckField
        label="Disabled"
        value={disabled}
        onChange={setDisabled}
        hint="Requests with this key are refused. It is never passed to the provider."
      />
      <LimitFields draft={draft} onChange={setDraft} />
    </FormDialog>
  );
}
