import { listKeys } from "../../api/config.ts";
import { type Dimension, readUsage, readUsageCsv } from "../../api/usage.ts";
import { setQuery, useAddress } from "../../routing.ts";
import { Button } from "../../ui/button.tsx";
import { Empty } from "../../ui/empty.tsx";
import { Page } from "../../ui/page.tsx";
import { Problem } from "../../ui/problem.tsx";
import { saveFile } from "../../ui/save-file.ts";
import { useAsyncAction } from "../../ui/use-async-action.ts";
import { useLoaded } from "../../ui/use-loaded.ts";
import { words } from "../../ui/words.ts";
import { GroupTable } from "./group-table.tsx";
import { PriceEditor } from "./price-editor.tsx";
import { texts } from "./texts.ts";
import { UsageCharts } from "./usage-charts.tsx";
import { UsageTiles } from "./usage-tiles.tsx";
import { displayName, formatView, parseView, RANGES, rangeStart, type UsageView } from "./usage-view.ts";

const REFRESH_MS = 30_000;
/** Maximum number of groups in the table. */
const MAX_TABLE_GROUPS = 500;
/** Maximum number of CSV lines: enough for the hours of 90 days by group. */
const MAX_CSV_LINES = 10_000;

/** Page for usage, summed up by the gateway. */
export function Usage() {
  const view = parseView(useAddress().query);
  const key = formatView(view);
  const { filters, unit } = view;
  const { data, error, reload } = useLoaded(
    async (signal) => {
      const now = Date.now();
      const from = rangeStart(view, now);
      const [series, groups] = await Promise.all([
        readUsage({ from, granularity: unit, groupBy: [], filters, limit: 1_000 }, signal),
        readUsage(
          { from, granularity: "total", groupBy: [view.by], filters, limit: MAX_TABLE_GROUPS },
          signal,
        ),
      ]);
      return { from, now, over: series, groups, view };
    },
    key,
    REFRESH_MS,
  );
  const keys = useLoaded(listKeys);
  const names = new Map(keys.data?.items.map(({ id, name }) => [id, name]));
  const download = useAsyncAction();
  return (
    <Page
      title={words.usage}
      lead={texts.lead}
      actions={
        <Button
          busy={download.busy}
          onClick={() =>
            download.run(async () => {
              const from = rangeStart(view, Date.now());
              const query = { from, granularity: unit, groupBy: [view.by], filters, limit: MAX_CSV_LINES };
              saveFile("usage.csv", await readUsageCsv(query), "text/csv");
            })
          }
        >
          {texts.downloadCsv}
        </Button>
      }
    >
      <Choices view={view} names={names} />
      <Problem error={error} retry={reload} />
      <Problem error={download.error} />
      {data !== null && data.over.totals.requests === 0 && (
        <div class="panel">
          <Empty icon="usage" title={texts.noUsage}>
            {Object.keys(filters).length === 0 ? texts.noRequestsInPeriod : texts.noRequestsInPeriodMatch}
          </Empty>
        </div>
      )}
      {data !== null && data.over.totals.requests > 0 && (
        <>
          <UsageTiles totals={data.over.totals} />
          <UsageCharts
            key={data.view.unit}
            items={data.over.items}
            from={data.from}
            now={data.now}
            unit={data.view.unit}
          />
          <GroupTable view={data.view} groups={data.groups} names={names} />
        </>
      )}
      <PriceEditor />
    </Page>
  );
}

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
  readonly names: ReadonlyMap<string, string>;
}

/** Controls for time range, grouping and filters. */
function Choices({ view, names }: ChoicesProps) {
  return (
    <div class="usage-choices">
      <fieldset class="row" aria-label={words.time}>
        {RANGES.map(([days, name]) => (
          <Button
            key={days}
            pressed={days === view.days}
            onClick={() => setQuery(formatView(view, { days }), true)}
          >
            {name}
          </Button>
        ))}
      </fieldset>
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
                    label={texts.showOthersAgain(displayName(name, value, names))}
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
