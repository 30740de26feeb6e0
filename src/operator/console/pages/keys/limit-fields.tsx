import { TextField } from "../../ui/field.tsx";
import { LIMIT_FIELDS, type LimitDraft } from "./limit-draft.ts";

interface LimitFieldsProps {
  readonly draft: LimitDraft;
  readonly onChange: (draft: LimitDraft) => void;
}

/** Form fields for a key's limits. */
export function LimitFields({ draft, onChange }: LimitFieldsProps) {
  const field = (name: string) => ({
    value: draft[name] ?? "",
    onChange: (value: string) => onChange({ ...draft, [name]: value }),
  });
  return (
    <fieldset class="stack">
      <legend>Limits</legend>
      <p class="hint">
        Nothing means no limit. Days and months are those of UTC; costs are in the currency of your prices.
      </p>
      <div class="limit-grid">
        {LIMIT_FIELDS.map(({ name, label }) => (
          <TextField key={name} label={label} type="number" min={0} {...field(name)} />
        ))}
      </div>
      <TextField
        label="Models"
        mono
        placeholder="all"
        hint="Names that it may ask for, or what they stand for; * at the end stands for any rest."
        {...field("models")}
      />
      <TextField
        label="Styles"
        mono
        placeholder="all"
        hint="Such as chat-completions, responses, messages, content-generation, embeddings, files."
        {...field("dialects")}
      />
      <TextField
        label="Networks"
        mono
        placeholder="all"
        hint="Addresses that it may be used from, such as 192.0.2.0/24."
        {...field("networks")}
      />
    </fieldset>
  );
}
