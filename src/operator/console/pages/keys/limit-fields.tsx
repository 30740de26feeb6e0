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
        Empty: no limit. Days and months are in UTC. Costs are in the currency of your prices.
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
        hint="Allowed model names or ids. A * at the end matches any ending."
        {...field("models")}
      />
      <TextField
        label="Styles"
        mono
        placeholder="all"
        hint="For example chat-completions, responses, messages, content-generation, embeddings, files."
        {...field("dialects")}
      />
      <TextField
        label="Networks"
        mono
        placeholder="all"
        hint="Client addresses that may use the key, for example 192.0.2.0/24."
        {...field("networks")}
      />
    </fieldset>
  );
}
