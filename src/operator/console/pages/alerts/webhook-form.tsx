import { useState } from "preact/hooks";
import { saveWebhooks, type WebhookView } from "../../api/alerts.ts";
import type { EditFormProps } from "../../ui/editing.tsx";
import { CheckField, type Choice, SelectField, TextField } from "../../ui/field.tsx";
import { FormDialog } from "../../ui/form-dialog.tsx";

/** Message formats of webhooks. */
export const FORMATS: readonly Choice[] = [
  ["json", "JSON, for programs"],
  ["chat", "Chat: Slack, Mattermost, Google Chat"],
  ["discord", "Discord"],
];

interface WebhookFormProps extends EditFormProps {
  /** null: a new webhook. */
  readonly webhook: WebhookView | null;
  readonly webhooks: readonly WebhookView[];
  /** Called with the secret of a new webhook. */
  readonly onSecret: (secret: string) => void;
}

/** Form that adds or changes a webhook. */
export function WebhookForm({ webhook, webhooks, onSecret, onClose, onSaved }: WebhookFormProps) {
  const [name, setName] = useState(webhook?.name ?? "");
  const [url, setUrl] = useState(webhook?.url ?? "");
  const [format, setFormat] = useState(webhook?.format ?? "json");
  const [isOn, setIsOn] = useState(webhook?.disabled !== true);
  const submit = async (onSucceeded: () => void) => {
    const fields = { name, url, format, disabled: !isOn };
    const updated = webhooks.map((stored) =>
      stored.id === webhook?.id ? { id: stored.id, ...fields } : stored,
    );
    const secrets = await saveWebhooks(webhook === null ? [...updated, fields] : updated);
    onSucceeded();
    onSecret(Object.values(secrets)[0] ?? "");
    await onSaved(webhook === null ? "Webhook added" : "Webhook saved");
  };
  return (
    <FormDialog
      title={webhook === null ? "Add webhook" : "Change webhook"}
      action={webhook === null ? "Add webhook" : "Save"}
      submit={submit}
      onClose={onClose}
    >
      <TextField label="Name" value={name} onChange={setName} focus />
      <TextField
        label="Address"
        value={url}
        onChange={setUrl}
        required
        mono
        placeholder="https://hooks.example.com/…"
        hint={
          webhook === null
            ? "A public address, or one of the private hosts."
            : "Secret parts are masked. Leave it unchanged to keep it."
        }
      />
      <SelectField label="Form" value={format} onChange={setFormat} choices={FORMATS} />
      <CheckField label="Switched on" value={isOn} onChange={setIsOn} />
    </FormDialog>
  );
}
