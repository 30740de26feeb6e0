import { useState } from "preact/hooks";
import type { Dimension } from "../../api/usage.ts";
import { setQuery } from "../../routing.ts";
import { displayName, type UsageNames } from "../../shared/usage-names.ts";
import { Button } from "../../ui/button.tsx";
import { TextField } from "../../ui/forms/field.tsx";
import { words } from "../../ui/words.ts";
import { texts } from "./texts.ts";
import { findPeriod, formatDay, formatView, RANGES, type UsageView } from "./usage-view.ts";

const TITLES: readonly (readonly [Dimension, string])[] = [
  ["key", words.keys],
  ["team", texts.teams],
  ["user", texts.users],
  ["tag", texts.tags],
  ["model", words.models],
  ["requested_model", texts.requestedModels],
  ["account", words.accounts],
  ["provider", words.providers],
  ["dialect", texts.apiStyles],
  ["operation", texts.operations],
  ["outcome", texts.outcomes],
];

interface ChoicesProps {
  readonly view: UsageView;
  readonly names: UsageNames;
}

/** Controls for time range, grouping and filters. */
export function UsageChoices({ view, names }: ChoicesProps) {
  return (
    <div class="usage-choices">
      <div class="row">
        <fieldset class="row" aria-label={words.time}>
          {RANGES.map(([days, name]) => (
            <Button
              key={days}
              pressed={days === view.range}
              onClick={() => setQuery(formatView(view, { range: days }), true)}
            >
              {name}
            </Button>
          ))}
        </fieldset>
        <DayChoice key={formatView(view)} view={view} />
      </div>
      <fieldset class="row" aria-label={texts.groupedBy}>
        {TITLES.map(([by, name]) => (
          <Button key={by} pressed={by === view.by} onClick={() => setQuery(formatView(view, { by }), true)}>
            {name}
          </Button>
        ))}
      </fieldset>
      {Object.keys(view.filters).length > 0 && (
        <fieldset class="row" aria-label={texts.onlyLabel}>
          <span class="muted">{texts.onlyLabel}</span>
          {TITLES.flatMap(([name]) => {
            const value = view.filters[name];
            return value === undefined
              ? []
              : [
                  <Button
                    key={name}
                    label={texts.removeFilter(displayName(name, value, names))}
                    onClick={() => setQuery(formatView(view, { filters: { [name]: null } }), true)}
                  >
                    {displayName(name, value, names)} ×
                  </Button>,
                ];
          })}
        </fieldset>
      )}
    </div>
  );
}

/** Fields for the first and the last day of the period. */
function DayChoice({ view }: { readonly view: UsageView }) {
  const { range } = view;
  const present = findPeriod(view, Date.now());
  const shown =
    typeof range === "number" ? { from: formatDay(present.from), to: formatDay(present.to - 1) } : range;
  const [from, setFrom] = useState(shown.from);
  const [to, setTo] = useState(shown.to);
  const isChanged = from !== shown.from || to !== shown.to;
  const isValid = from !== "" && to !== "" && from <= to;
  return (
    <form
      class="row day-choice"
      onSubmit={(event) => {
        event.preventDefault();
        setQuery(formatView(view, { range: { from, to } }), true);
      }}
    >
      <TextField label={texts.fromDay} type="date" value={from} onChange={setFrom} />
      <TextField label={texts.toDay} type="date" value={to} onChange={setTo} />
      <Button type="submit" disabled={!isValid || !isChanged} pressed={typeof range !== "number"}>
        {texts.showDays}
      </Button>
      {!isValid && <span class="field-error">{texts.dateOrderError}</span>}
    </form>
  );
}
