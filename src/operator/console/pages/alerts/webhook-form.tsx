import { useState } from "preact/hooks";
import { saveWebhooks, type WebhookView } from "../../api/alerts.ts";
import { toMessage } from "../../api/client.ts";
import type { EditFormProps } from "../../ui/forms/editing.tsx";
import { CheckField, type Choice, SelectField, TextField } from "../../ui/forms/field.tsx";
import { FormDialog } from "../../ui/forms/form-dialog.tsx";
import { words } from "../../ui/words.ts";
import { RuleChoices } from "./rule-choices.tsx";
import { parseChosenRules, toChosenRules } from "./rule-list.ts";
import { texts } from "./texts.ts";

/** Message formats of webhooks. */
export const FORMATS: readonly Choice[] = [
  ["json", texts.jsonFormat],
  ["chat", texts.chatFormat],
  ["discord", "Discord"],
];

interface WebhookFormProps extends EditFormProps {
  /** null: a new webhook. */
  readonly webhook: WebhookView | null;
  readonly webhooks: readonly WebhookView[];
  /** Hosts in private networks that webhooks may use. */
  readonly privateHosts: readonly string[];
  /** Called with the secret of a new webhook. */
  readonly onSecret: (secret: string) => void;
}

/**
 * Names without a dot or of private networks, and literal addresses:
 * the gateway refuses most of them unless they are listed.
 */
const PRIVATE_NAME = /^(?:[^.]+|.+\.(?:local|internal|lan|home\.arpa)|[\d.]+|\[.+\])$/;

/** Named by the error about an address that the gateway refuses unless it is listed. */
const PRIVATE_HOSTS_FIELD = "private_hosts";

/** Returns the host and port of an address that seems to be in a private network; empty: it is not, or is no address. */
function findPrivateHost(url: string): string {
  const { host = "", hostname = "" } = URL.parse(url) ?? {};
  return PRIVATE_NAME.test(hostname) ? host : "";
}

/** Form that adds or changes a webhook. */
export function WebhookForm(props: WebhookFormProps) {
  const { webhook, webhooks, privateHosts, onSecret, onClose, onSaved } = props;
  const [name, setName] = useState(webhook?.name ?? "");
  const [url, setUrl] = useState(webhook?.url ?? "");
  const [format, setFormat] = useState<WebhookView["format"]>(webhook?.format ?? "json");
  const [chosenRules, setChosenRules] = useState(toChosenRules(webhook));
  const [isOn, setIsOn] = useState(webhook?.disabled !== true);
  const [allowsHost, setAllowsHost] = useState(false);
  const privateHost = findPrivateHost(url);
  const submit = async (onSucceeded: () => void) => {
    const fields = { name, url, format, rules: parseChosenRules(chosenRules), disabled: !isOn };
    const updated = webhooks.map((stored) =>
      stored.id === webhook?.id ? { id: stored.id, ...fields } : stored,
    );
    const secrets = await saveWebhooks(
      webhook === null ? [...updated, fields] : updated,
      allowsHost && privateHost !== "" ? [...new Set([...privateHosts, privateHost])] : undefined,
    ).catch((error: unknown) => {
      const isRefused = privateHost !== "" && toMessage(error).includes(PRIVATE_HOSTS_FIELD);
      throw isRefused ? new Error(texts.allowHostFirst(texts.allowPrivateHost(privateHost))) : error;
    });
    onSucceeded();
    onSecret(Object.values(secrets)[0] ?? "");
    await onSaved(webhook === null ? texts.webhookAdded : texts.webhookSaved);
  };
  return (
    <FormDialog
      title={webhook === null ? texts.addWebhook : texts.changeWebhook}
      action={webhook === null ? texts.addWebhook : words.save}
      submit={submit}
      onClose={onClose}
    >
      <TextField label={words.name} path="name" value={name} onChange={setName} focus />
      <TextField
        label={words.address}
        path="url"
        value={url}
        onChange={setUrl}
        required
        mono
        placeholder="https://hooks.example.com/…"
        hint={webhook === null ? texts.addressHint : texts.maskedAddressHint}
      />
      {privateHost !== "" && !privateHosts.includes(privateHost) && (
        <CheckField
          label={texts.allowPrivateHost(privateHost)}
          value={allowsHost}
          onChange={setAllowsHost}
          hint={texts.allowPrivateHostHint}
        />
      )}
      <SelectField
        label={texts.format}
        path="format"
        value={format}
        onChange={(value) => setFormat(value === "chat" || value === "discord" ? value : "json")}
        choices={FORMATS}
      />
      <RuleChoices chosen={chosenRules} onChange={setChosenRules} />
      <CheckField label={texts.enabled} value={isOn} onChange={setIsOn} />
    </FormDialog>
  );
}
