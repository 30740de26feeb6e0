import { useMemo } from "preact/hooks";
import type { Activity } from "../../api/activity.ts";
import { Chart } from "../../ui/charts/chart.tsx";
import { ChartList } from "../../ui/charts/chart-list.tsx";
import { formatCompact, formatCost, formatDuration } from "../../ui/format.ts";
import { words } from "../../ui/words.ts";
import { historyLinkOfStep } from "./history-link.ts";
import { addSeries, toPerMinute, toTimes } from "./series.ts";
import { texts } from "./texts.ts";

const formatSmall = (value: number) => (value < 10 ? String(Number(value.toFixed(2))) : formatCompact(value));

/** Charts of the selected time range. A click opens the history of that step. */
export function ActivityCharts({ activity }: { readonly activity: Activity }) {
  const times = useMemo(() => toTimes(activity), [activity]);
  const lines = useMemo(() => {
    const { series } = activity;
    const rate = (counts: readonly number[]) => toPerMinute(activity, counts);
    const percentileLines = ({ p50, p95, p99 }: Activity["series"]["duration_ms"]) =>
      [
        { name: "p50", colour: "accent", values: p50 },
        { name: "p95", colour: "warn", values: p95 },
        { name: "p99", colour: "bad", values: p99 },
      ] as const;
    return {
      requests: [
        { name: texts.requests, colour: "accent", values: rate(series.requests) },
        { name: texts.errors, colour: "bad", values: rate(addSeries(series.failed, series.refused)) },
      ],
      firstToken: percentileLines(series.first_token_ms),
      duration: percentileLines(series.duration_ms),
      tokens: [
        { name: texts.in, colour: "muted", values: rate(series.prompt_tokens) },
        { name: texts.out, colour: "good", values: rate(series.completion_tokens) },
      ],
      cost: [{ name: texts.cost, colour: "accent", values: rate(series.cost) }],
      load: [
        { name: texts.slots, colour: "accent", values: series.slots },
        { name: texts.waiting, colour: "warn", values: series.waiting },
      ],
    } as const;
  }, [activity]);
  const shared = {
    times,
    from: activity.from / 1_000,
    to: activity.now / 1_000,
    onPick: (index: number) => {
      location.hash = historyLinkOfStep(activity, index);
    },
  };
  return (
    <ChartList label={texts.charts}>
      <Chart
        title={texts.requestsAndErrorsPerMinute}
        lines={lines.requests}
        least={1}
        format={formatSmall}
        {...shared}
      />
      <Chart
        title={texts.timeToFirstToken}
        lines={lines.firstToken}
        least={200}
        format={formatDuration}
        {...shared}
      />
      <Chart title={words.duration} lines={lines.duration} least={200} format={formatDuration} {...shared} />
      <Chart title={texts.tokensPerMinute} lines={lines.tokens} least={10} format={formatSmall} {...shared} />
      <Chart
        title={texts.slotsAndQueueAverage}
        lines={lines.load}
        least={1}
        format={formatSmall}
        {...shared}
      />
      <Chart title={texts.costPerMinute} lines={lines.cost} least={0.01} format={formatCost} {...shared} />
    </ChartList>
  );
}
