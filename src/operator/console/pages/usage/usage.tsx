import { readUsage, readUsageCsv } from "../../api/usage.ts";
import { useAddress } from "../../routing.ts";
import { PRICES_DETAIL } from "../../shared/prices-link.ts";
import { useNames } from "../../shared/usage-names.ts";
import { Button } from "../../ui/button.tsx";
import { Empty } from "../../ui/empty.tsx";
import { LoadState } from "../../ui/loading/load-state.tsx";
import { Problem } from "../../ui/loading/problem.tsx";
import { useAsyncAction } from "../../ui/loading/use-async-action.ts";
import { useLoaded } from "../../ui/loading/use-loaded.ts";
import { Page } from "../../ui/page.tsx";
import { saveFile } from "../../ui/save-file.ts";
import { words } from "../../ui/words.ts";
import { GroupTable } from "./group-table.tsx";
import { PriceEditor } from "./price-editor.tsx";
import { texts } from "./texts.ts";
import { UsageCharts } from "./usage-charts.tsx";
import { UsageChoices } from "./usage-choices.tsx";
import { UsageTiles } from "./usage-tiles.tsx";
import { findPeriod, findPeriodBefore, formatView, parseView, type UsageView } from "./usage-view.ts";

const REFRESH_MS = 30_000;
/** Maximum number of groups in the table. */
const MAX_TABLE_GROUPS = 500;
/** Maximum number of steps in the charts: two years of days. */
const MAX_STEPS = 1_000;

/** Reads the usage of the chosen period by time and by group, and by group that of the period before. */
async function readView(view: UsageView, signal: AbortSignal) {
  const { filters, by } = view;
  const period = findPeriod(view, Date.now());
  const before = findPeriodBefore(view, period);
  const byGroup = { granularity: "total", groupBy: [by], filters, limit: MAX_TABLE_GROUPS } as const;
  const inSteps = { granularity: period.unit, groupBy: [], filters, limit: MAX_STEPS } as const;
  const [steps, groups, groupsBefore] = await Promise.all([
    readUsage({ from: period.from, to: period.to, ...inSteps }, signal),
    readUsage({ from: period.from, to: period.to, ...byGroup }, signal),
    readUsage({ from: before.from, to: before.to, ...byGroup }, signal),
  ]);
  return { view, period, before, steps, groups, groupsBefore };
}

/** Page for usage, summed up by the gateway. */
export function Usage({ detail }: { readonly detail: string }) {
  const view = parseView(useAddress().query);
  const key = formatView(view);
  const { filters, by } = view;
  const { data, error, reload } = useLoaded((signal) => readView(view, signal), key, REFRESH_MS);
  const names = useNames();
  const download = useAsyncAction();
  /** @param isTotal one line for each group, instead of one for each hour or day of it */
  const save = async (isTotal: boolean) => {
    const { from, to, unit } = findPeriod(view, Date.now());
    const granularity = isTotal ? "total" : unit;
    saveFile("usage.csv", await readUsageCsv({ from, to, granularity, groupBy: [by], filters }), "text/csv");
  };
  return (
    <Page
      title={words.usage}
      lead={texts.lead}
      actions={
        <>
          <Button busy={download.busy} onClick={() => void download.run(() => save(true))}>
            {texts.downloadTotals}
          </Button>
          <Button busy={download.busy} onClick={() => void download.run(() => save(false))}>
            {texts.downloadCsv}
          </Button>
        </>
      }
    >
      <UsageChoices view={view} names={names} />
      <LoadState {...{ data, error, reload }} />
      <Problem error={download.error} />
      {data !== null && data.steps.totals.requests === 0 && (
        <div class="panel">
          <Empty icon="usage" title={texts.noUsage}>
            {Object.keys(filters).length === 0 ? texts.noRequestsInPeriod : texts.noRequestsMatch}
          </Empty>
        </div>
      )}
      {data !== null && data.steps.totals.requests > 0 && (
        <>
          <UsageTiles
            totals={data.steps.totals}
            totalsBefore={data.groupsBefore.totals}
            before={data.before}
          />
          <UsageCharts
            key={`${data.period.unit} first`}
            items={data.steps.items}
            period={data.period}
            part="first"
          />
          <GroupTable
            key={formatView(data.view)}
            view={data.view}
            groups={data.groups}
            before={data.groupsBefore.items}
            names={names}
          />
          <UsageCharts
            key={`${data.period.unit} others`}
            items={data.steps.items}
            period={data.period}
            part="others"
          />
        </>
      )}
      {/* The prices are the last part: their place is known when the parts before have loaded. */}
      <PriceEditor isTarget={detail === PRICES_DETAIL && (data !== null || error !== "")} />
    </Page>
  );
}
