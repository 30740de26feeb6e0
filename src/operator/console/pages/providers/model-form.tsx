import { useState } from "preact/hooks";
import { changeModel, type ProviderView } from "../../api/providers.ts";
import { CheckField, SelectField, TextField } from "../../ui/field.tsx";
import { FormDialog } from "../../ui/form-dialog.tsx";
import {
  ABILITY_CHOICES,
  type ModelDraft,
  type ModelFaults,
  toModelDraft,
  toModelFields,
  validateModelDraft,
} from "./model-draft.ts";
import { type ListedModel, listModels } from "./model-list.ts";

interface ModelFormProps {
  readonly provider: ProviderView;
  /** null: a new model. */
  readonly model: ListedModel | null;
  readonly onClose: () => void;
  /** Called with the changed provider and a message about the change. */
  readonly onSaved: (provider: ProviderView, message: string) => void;
}

/** Names of text fields. */
type TextName = Exclude<keyof ModelDraft, "enabled">;

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
    if (Object.keys(errors).length > 0) throw new Error("Nothing was saved.");
    const changed = await changeModel(provider.id, draft.name.trim(), toModelFields(draft));
    onSaved(changed, model === null ? "Model listed" : "Model saved");
  };
  return (
    <FormDialog
      title={model === null ? `Add a model of ${provider.id}` : `Model ${model.name}`}
      action={model === null ? "Add model" : "Save"}
      submit={submit}
      onClose={onClose}
      wide
    >
      {model === null && (
        <TextField
          {...text("name", "Name")}
          required
          mono
          focus
          placeholder="qwen3:8b"
          hint={`Callers use ${provider.id}/ and this name. Cannot be changed later.`}
        />
      )}
      <TextField
        {...text("upstream", "Name at the provider")}
        mono
        placeholder={draft.name}
        hint="Empty: the same name."
      />
      <CheckField
        label="Switched on"
        value={draft.enabled}
        onChange={(enabled) => change({ enabled })}
        hint="Off: it is not listed, and requests for it are refused, also by its name at the provider."
      />
      <div class="limit-grid">
        <SelectField
          {...text("thinking", "Thinks")}
          choices={ABILITY_CHOICES}
          hint="No: reasoning is never requested."
        />
        <SelectField
          {...text("vision", "Reads images")}
          choices={ABILITY_CHOICES}
          hint="No: requests with images use the provider's first model that reads images."
        />
        <SelectField
          {...text("search", "Searches the web")}
          choices={ABILITY_CHOICES}
          hint="No: requests with web search use the provider's first model that searches."
        />
      </div>
      <div class="limit-grid">
        {tokens(
          "context",
          "Context (tokens)",
          "What it reads and writes at once. What is longer goes to a larger model of a route.",
        )}
        {tokens("output", "Max output (tokens)", "Requests for more are capped at this number.")}
      </div>
      <div class="limit-grid">
        {tokens("price_input", "A million tokens in cost", "The prices of the page Usage come first.")}
        {tokens("price_output", "A million tokens out cost", "In the currency that you count in.")}
      </div>
      <div class="limit-grid">
        {tokens("price_cache_read", "Cache read (per million tokens)", "Empty: the input price.")}
        {tokens("price_cache_write_5m", "Cache write, 5 minutes (per million)", "Empty: the input price.")}
        {tokens(
          "price_cache_write_1h",
          "Cache write, 1 hour (per million)",
          "Empty: the price for 5 minutes.",
        )}
      </div>
    </FormDialog>
  );
}
