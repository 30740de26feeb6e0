import { TextField } from "../../ui/field.tsx";
import { words } from "../../ui/words.ts";
import { LIMIT_FIELDS, type LimitDraft } from "./limit-draft.ts";
import { texts } from "./texts.ts";

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
      <legend>{texts.limits}</legend>
      <p class="hint">{texts.emptyNoLimitDaysAnd}</p>
      <div class="limit-grid">
        {LIMIT_FIELDS.map(({ name, label }) => (
          <TextField key={name} label={label} type="number" min={0} {...field(name)} />
        ))}
      </div>
      <TextField
        label={words.models}
        mono
        placeholder={words.all}
        hint={texts.allowedModelNamesOrIds}
        {...field("models")}
      />
      <TextField
        label={texts.styles}
        mono
        placeholder={words.all}
        hint={texts.forExampleChatCompletionsResponses}
        {...field("dialects")}
      />
      <TextField
        label={texts.networks}
        mono
        placeholder={words.all}
        hint={texts.clientAddressesMayUseKey}
        {...field("networks")}
      />
    </fieldset>
  );
}
