import { useState } from "preact/hooks";
import { changeSettings, type Settings } from "../../api/settings.ts";
import { parseLimits, toLimitDraft } from "../../shared/limit-draft.ts";
import { NumberLimitFields } from "../../shared/limit-fields.tsx";
import type { EntryVersion } from "../../ui/forms/conflict.tsx";
import { TextField } from "../../ui/forms/field.tsx";
import { FormDialog } from "../../ui/forms/form-dialog.tsx";
import { words } from "../../ui/words.ts";
import { CACHE_PATH } from "./provider-draft.ts";
import { texts } from "./texts.ts";

interface DefaultProviderFormProps {
  readonly settings: Settings;
  readonly version: EntryVersion;
  readonly onClose: () => void;
  readonly onSaved: (message: string) => Promise<void>;
}

/** Form for what the configuration holds of the default provider. The environment variables set the rest. */
export function DefaultProviderForm({ settings, version, onClose, onSaved }: DefaultProviderFormProps) {
  const { limits, cache } = settings.default_provider;
  const [draft, setDraft] = useState(() => toLimitDraft({ limits }));
  const [seconds, setSeconds] = useState(String(cache.ttl_seconds ?? ""));
  const submit = async (onSucceeded: () => void, ifMatch: string | undefined) => {
    const changed = {
      limits: parseLimits(draft, limits),
      cache: seconds.trim() === "" ? {} : { ttl_seconds: Number(seconds) },
    };
    await changeSettings({ default_provider: changed }, ifMatch);
    onSucceeded();
    await onSaved(texts.providerSaved);
  };
  return (
    <FormDialog
      title={texts.defaultProvider}
      action={words.save}
      submit={submit}
      version={version}
      onClose={onClose}
      wide
    >
      <p class="muted">{texts.defaultProviderHint}</p>
      <TextField
        label={texts.responseCacheSeconds}
        path={CACHE_PATH}
        type="number"
        min={0}
        value={seconds}
        onChange={setSeconds}
        hint={texts.responseCacheHint}
      />
      <fieldset class="stack">
        <legend>{texts.providerLimits}</legend>
        <NumberLimitFields draft={draft} onChange={setDraft} />
      </fieldset>
    </FormDialog>
  );
}
