import { useState } from "preact/hooks";
import { type ApiKey, addKey, changeKey } from "../../api/keys.ts";
import { EntryForm, RemarkField } from "../../shared/entry-form.tsx";
import { generateKey } from "../../shared/generate-key.ts";
import { HistoryModeField } from "../../shared/history-mode-field.tsx";
import { parseScope, toLimitDraft } from "../../shared/limit-draft.ts";
import { LimitFields } from "../../shared/limit-fields.tsx";
import { CopyButton } from "../../ui/copy-button.tsx";
import type { EditFormProps } from "../../ui/forms/editing.tsx";
import { CheckField, TextField } from "../../ui/forms/field.tsx";
import { words } from "../../ui/words.ts";
import { fromLocalInput, toLocalInput } from "./key-expiry.ts";
import { type Membership, MembershipFields } from "./membership-fields.tsx";
import { texts } from "./texts.ts";

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
  const [membership, setMembership] = useState<Membership>(() => ({
    team: apiKey?.team ?? "",
    user: apiKey?.user ?? "",
    guardrails: apiKey?.guardrails ?? [],
  }));
  const [history, setHistory] = useState(apiKey?.history ?? "full");
  const [draft, setDraft] = useState(() => toLimitDraft(apiKey));
  const submit = async (onSucceeded: () => void, ifMatch: string | undefined) => {
    // The input field has no seconds. If the user did not edit it, keep the exact value.
    const isUnedited = expires === toLocalInput(apiKey?.expires ?? 0);
    const labels = {
      name,
      remark,
      disabled,
      ...membership,
      history,
      ...(!isUnedited && { expires: fromLocalInput(expires) }),
      ...parseScope(draft, apiKey),
    };
    if (apiKey === null) {
      await addKey({ key, ...labels });
      onSucceeded();
      onAdded(key);
      return onSaved(texts.keyAdded);
    }
    await changeKey(apiKey.id, labels, ifMatch);
    onSucceeded();
    return onSaved(texts.keySaved);
  };
  return (
    <EntryForm
      noun={texts.keyNoun}
      isNew={apiKey === null}
      submit={submit}
      version={version}
      onClose={onClose}
      wide
      {...(apiKey === null && { extra: <CopyButton text={key} name={texts.copyKey} /> })}
    >
      {apiKey === null && (
        <TextField
          label={words.key}
          path="key"
          value={key}
          onChange={setKey}
          required
          mono
          hint={texts.generatedKeyHint}
        />
      )}
      <TextField
        label={words.name}
        path="name"
        value={name}
        onChange={setName}
        hint={texts.whoOrWhatUsesKey}
        focus
      />
      <RemarkField value={remark} onChange={setRemark} />
      <TextField
        label={texts.expires}
        path="expires"
        type="datetime-local"
        value={expires}
        onChange={setExpires}
        hint={texts.expiryHint}
      />
      <CheckField
        label={texts.disabledTitle}
        value={disabled}
        onChange={setDisabled}
        hint={texts.disabledKeyHint}
      />
      <MembershipFields membership={membership} onChange={setMembership} />
      <HistoryModeField value={history} onChange={setHistory} />
      <LimitFields draft={draft} onChange={setDraft} />
    </EntryForm>
  );
}
