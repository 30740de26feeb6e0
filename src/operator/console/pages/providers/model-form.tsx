import { useState } from "preact/hooks";
import { changeModel, type ProviderEntryView, type ProviderView } from "../../api/providers.ts";
import { FurtherPriceFields } from "../../shared/further-prices.tsx";
import { CheckField, SelectField, TextField } from "../../ui/field.tsx";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { words } from "../../ui/words.ts";
import {
  ABILITY_CHOICES,
  type ModelDraft,
  type ModelFaults,
  toModelDraft,
  toModelFields,
  validateModelDraft,
} from "./model-draft.ts";
import { type ListedModel, listModels } from "./model-list.ts";
import { texts } from "./texts.ts";

interface ModelFormProps {
  readonly provider: ProviderView;
  /** null: a new model. */
  readonly model: ListedModel | null;
  readonly onClose: () => void;
  /** Called with the changed provider and a message about the change. */
  readonly onSaved: (provider: ProviderEntryView, message: string) => void;
}

/** Names of text fields. */
type TextName = Exclude<keyof ModelDraft, "enabled" | "further_prices">;

/** Form to edit a model's properties. */
export function ModelForm({ provider, model, onClose, onSaved }: ModelFormProps) {
  const [draft, setDraft] = useState(() => toModelDraft(model));
  const [faults, setFaults] = useState<ModelFaults>({});
  const change = (changes: Partial<ModelDraft>) => {
    setDraft((before) => ({ ...before, ...changes }));
    setFaults((before) =>
      Object.fromEntries(Object.entries(before).filter(([field]) => !(field in changes))),
    );
  };
  const text = (name: TextName, label: string) => ({
    label,
    value: draft[name],
    error: faults[name],
    onChange: (value: string) => change({ [name]: value }),
  });
  const tokens = (name: TextName, label: string, hint: string) => (
    <TextField {...text(name, label)} type="number" hint={hint} />
  );
  const submit = async () => {
    const otherNames = model === null ? listModels(provider).map(({ name }) => name) : [];
    const errors = validateModelDraft(draft, otherNames);
    setFaults(errors);
    if (Object.keys(errors).length > 0) throw new Error(texts.nothingWasSaved);
    const changed = await changeModel(provider.id, draft.name.trim(), toModelFields(draft));
    onSaved(changed, model === null ? texts.modelAdded : texts.modelSaved);
  };
  return (
    <FormDialog
      title={model === null ? texts.addModel(provider.id) : texts.model(model.name)}
      action={model === null ? texts.addModelTitle : words.save}
      submit={submit}
      onClose={onClose}
      wide
    >
      {model === null && (
        <TextField
          {...text("name", words.name)}
          required
          mono
          focus
          placeholder="qwen3:8b"
          hint={texts.modelNameHint(provider.id)}
        />
      )}
      <TextField
        {...text("upstream", texts.nameAtProvider)}
        mono
        placeholder={draft.name}
        hint={texts.sameNameHint}
      />
      <CheckField
        label={texts.enabled}
        value={draft.enabled}
        onChange={(enabled) => change({ enabled })}
        hint={texts.enabledHint}
      />
      <div class="limit-grid">
        <SelectField {...text("thinking", texts.thinks)} choices={ABILITY_CHOICES} hint={texts.thinksHint} />
        <SelectField
          {...text("vision", texts.readsImages)}
          choices={ABILITY_CHOICES}
          hint={texts.readsImagesHint}
        />
        <SelectField
          {...text("search", texts.searchesWeb)}
          choices={ABILITY_CHOICES}
          hint={texts.searchesWebHint}
        />
      </div>
      <div class="limit-grid">
        {tokens("context", texts.contextTokens, texts.contextHint)}
        {tokens("output", texts.maxOutputTokens, texts.maxOutputHint)}
      </div>
      <div class="limit-grid">
        {tokens("price_input", texts.inputPrice, texts.inputPriceHint)}
        {tokens("price_output", texts.outputPrice, texts.outputPriceHint)}
      </div>
      <div class="limit-grid">
        {tokens("price_cache_read", texts.cacheReadPerMillionTokens, texts.emptyInputPrice)}
        {tokens("price_cache_write_5m", texts.cacheWriteMinutesPerMillion, texts.emptyInputPrice)}
        {tokens("price_cache_write_1h", texts.cacheWriteHourPerMillion, texts.cacheWrite1HourDefaultHint)}
      </div>
      <FurtherPriceFields
        prices={draft.further_prices}
        onChange={(further_prices) => change({ further_prices })}
      />
    </FormDialog>
  );
}
