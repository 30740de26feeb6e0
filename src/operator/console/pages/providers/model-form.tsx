import { useState } from "preact/hooks";
import { changeModel, type ProviderEntryView, type ProviderView } from "../../api/providers.ts";
import { PriceFields } from "../../shared/price-fields.tsx";
import { CheckField, SelectField, TextField } from "../../ui/forms/field.tsx";
import { FormDialog } from "../../ui/forms/form-dialog.tsx";
import { rejectFaults } from "../../ui/forms/form-errors.ts";
import { words } from "../../ui/words.ts";
import {
  ABILITY_CHOICES,
  type ModelDraft,
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
type TextName = Exclude<keyof ModelDraft, "enabled" | "price">;

/** Form to edit a model's properties. */
export function ModelForm({ provider, model, onClose, onSaved }: ModelFormProps) {
  const [draft, setDraft] = useState(() => toModelDraft(model));
  const change = (changes: Partial<ModelDraft>) => setDraft((before) => ({ ...before, ...changes }));
  const text = (name: TextName, label: string) => ({
    label,
    path: name,
    value: draft[name],
    onChange: (value: string) => change({ [name]: value }),
  });
  const submit = async () => {
    const otherNames = model === null ? listModels(provider).map(({ name }) => name) : [];
    rejectFaults(validateModelDraft(draft, otherNames));
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
        <TextField {...text("context", texts.contextTokens)} type="number" hint={texts.contextHint} />
        <TextField {...text("output", texts.maxOutputTokens)} type="number" hint={texts.maxOutputHint} />
      </div>
      <p class="hint">{texts.modelPriceHint}</p>
      <PriceFields prices={draft.price} onChange={(price) => change({ price })} />
    </FormDialog>
  );
}
