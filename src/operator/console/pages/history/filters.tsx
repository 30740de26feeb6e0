import { useEffect, useState } from "preact/hooks";
import { setQuery, useAddress } from "../../routing.ts";
import { Button } from "../../ui/button.tsx";
import { SelectField, TextField } from "../../ui/forms/field.tsx";
import { countFilters, FILTER_FIELDS, type FilterField } from "./filter-fields.ts";
import { SaveFilter } from "./saved-list.tsx";
import { texts } from "./texts.ts";

const PAUSE_MS = 400;

/** Controls for the filters of the list. The URL stores all of them. */
export function Filters() {
  const { query } = useAddress();
  const set = countFilters(query);
  const params = new URLSearchParams(query);
  const change = (name: string, value: string) => {
    // Uses the URL at the time of the change, because other fields may have changed it.
    const next = new URLSearchParams(query);
    if (value === "") next.delete(name);
    else next.set(name, value);
    next.delete("page");
    setQuery(next.toString(), false);
  };
  const clear = () => {
    for (const { name } of FILTER_FIELDS) params.delete(name);
    params.delete("page");
    setQuery(params.toString(), true);
  };
  return (
    <details class="filters" open={set > 0}>
      <summary>
        {texts.filters}
        {set > 0 && ` (${set})`}
      </summary>
      <div class="panel stack">
        <div class="filter-grid">
          {FILTER_FIELDS.map((field) => (
            <Filter
              key={field.name}
              field={field}
              value={params.get(field.name) ?? ""}
              onChange={(value) => change(field.name, value)}
            />
          ))}
        </div>
        <div>
          <Button kind="quiet" disabled={set === 0} onClick={clear}>
            {texts.clearFilters}
          </Button>
          <SaveFilter />
        </div>
      </div>
    </details>
  );
}

interface FilterProps {
  readonly field: FilterField;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

function Filter({ field, value, onChange }: FilterProps) {
  const { label, kind, placeholder, choices = [] } = field;
  const [text, setText] = useState(value);
  useEffect(() => setText(value), [value]);
  useEffect(() => {
    if (text === value) return;
    const timer = setTimeout(() => onChange(text), PAUSE_MS);
    return () => clearTimeout(timer);
  });
  if (kind === "choice") {
    // The query may have several values, or one that has no name.
    const isNamed = choices.some(([name]) => name === value);
    const shown = isNamed ? choices : [...choices, [value, value] as const];
    return <SelectField label={label} value={value} onChange={onChange} choices={shown} />;
  }
  const type = kind === "time" ? "datetime-local" : kind;
  return (
    <TextField
      label={label}
      type={type}
      value={text}
      onChange={setText}
      {...(placeholder !== undefined && { placeholder })}
    />
  );
}
