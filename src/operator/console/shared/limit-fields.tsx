import { dialectIds } from "polygate:playgrounds";
import { SHARED_STYLES } from "../../../core/config/styles.ts";
import { formatApiStyle } from "../ui/api-styles.ts";
import { CheckField, TextField } from "../ui/forms/field.tsx";
import { words } from "../ui/words.ts";
import { LIMIT_FIELDS, type LimitDraft, parseList } from "./limit-draft.ts";
import { PRICES_HREF } from "./prices-link.ts";
import { texts } from "./texts.ts";

const STYLES: readonly string[] = [...dialectIds, ...SHARED_STYLES];

interface LimitFieldsProps {
  readonly draft: LimitDraft;
  readonly onChange: (draft: LimitDraft) => void;
}

const createField = ({ draft, onChange }: LimitFieldsProps, name: string) => ({
  path: name,
  value: draft[name] ?? "",
  onChange: (value: string) => onChange({ ...draft, [name]: value }),
});

/** Form fields for numbers: the limits that keys, teams, users, tags and providers have. */
export function NumberLimitFields(props: LimitFieldsProps) {
  return (
    <>
      <p class="hint">
        {/* In another tab, because this one would lose what was entered. */}
        {texts.limitsHint(
          <a href={PRICES_HREF} target="_blank" rel="noreferrer">
            {texts.yourPrices}
          </a>,
        )}
      </p>
      <div class="limit-grid">
        {LIMIT_FIELDS.map(({ name, label }) => (
          <TextField
            key={name}
            label={label}
            type="number"
            min={0}
            {...createField(props, name)}
            path={`limits.${name}`}
          />
        ))}
      </div>
    </>
  );
}

/** Form fields for numbers and models: the limits that keys, teams, users and tags have. */
export function SharedLimitFields(props: LimitFieldsProps) {
  return (
    <>
      <NumberLimitFields {...props} />
      <TextField
        label={words.models}
        mono
        placeholder={words.all}
        hint={texts.allowedModelsHint}
        {...createField(props, "models")}
      />
    </>
  );
}

/** Form field for the tags that requests may name: of keys, teams and users. */
export function AllowedTagsField(props: LimitFieldsProps) {
  return (
    <TextField
      label={texts.allowedTags}
      mono
      placeholder={words.all}
      hint={texts.tagsHint}
      {...createField(props, "allowed_tags")}
    />
  );
}

/** Form fields for a key's limits. */
export function LimitFields(props: LimitFieldsProps) {
  const { draft, onChange } = props;
  const listedStyles = parseList(draft["dialects"] ?? "");
  const chooseStyle = (style: string, chosen: boolean) => {
    const others = listedStyles.filter((name) => name !== style);
    onChange({ ...draft, dialects: [...others, ...(chosen ? [style] : [])].join(", ") });
  };
  return (
    <fieldset class="stack">
      <legend>{words.limits}</legend>
      <SharedLimitFields {...props} />
      <fieldset class="style-choices">
        <legend>{texts.styles}</legend>
        <p class="hint">{texts.allStylesHint}</p>
        {STYLES.map((style) => (
          <CheckField
            key={style}
            label={formatApiStyle(style)}
            value={listedStyles.includes(style)}
            onChange={(chosen) => chooseStyle(style, chosen)}
          />
        ))}
      </fieldset>
      <TextField
        label={texts.networks}
        mono
        placeholder={words.all}
        hint={texts.networksHint}
        {...createField(props, "networks")}
      />
      <AllowedTagsField {...props} />
    </fieldset>
  );
}
