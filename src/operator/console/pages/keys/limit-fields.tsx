import { dialectIds } from "polygate:playgrounds";
import { SHARED_STYLES } from "../../../../core/config/styles.ts";
import { CheckField, TextField } from "../../ui/field.tsx";
import { words } from "../../ui/words.ts";
import { LIMIT_FIELDS, type LimitDraft, parseList } from "./limit-draft.ts";
import { texts } from "./texts.ts";

const STYLES: readonly string[] = [...dialectIds, ...SHARED_STYLES];

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
  const listedStyles = parseList(draft["dialects"] ?? "");
  const chooseStyle = (style: string, chosen: boolean) => {
    const others = listedStyles.filter((name) => name !== style);
    onChange({ ...draft, dialects: [...others, ...(chosen ? [style] : [])].join(", ") });
  };
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
      <fieldset class="style-choices">
        <legend>{texts.styles}</legend>
        <p class="hint">{texts.noStyleMeansAll}</p>
        {STYLES.map((style) => (
          <CheckField
            key={style}
            label={style}
            value={listedStyles.includes(style)}
            onChange={(chosen) => chooseStyle(style, chosen)}
          />
        ))}
      </fieldset>
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
