import { useMemo } from "preact/hooks";
import type { UsageItem } from "../../api/usage.ts";
import { Chart } from "../../ui/charts/chart.tsx";
import { ChartList } from "../../ui/charts/chart-list.tsx";
import { formatCompact, formatCost, formatDuration } from "../../ui/format.ts";
import { useIsNarrow } from "../../ui/use-media.ts";
import { words } from "../../ui/words.ts";
import { texts } from "./texts.ts";
import { buildSeries, type Period } from "./usage-view.ts";

interface UsageChartsProps {
  readonly items: readonly UsageItem[];
  readonly period: Period;
  /** The first charts stand above the table, the others below. */
  readonly part: "first" | "others";
}

const formatAmount = (value: number) => (Number.isInteger(value) ? formatCompact(value) : value.toFixed(1));

/** Charts of usage over time. */
export function UsageCharts({ items, period, part }: UsageChartsProps) {
  const { from, to, unit } = period;
  const isNarrow = useIsNarrow();
  const { times, ...lines } = useMemo(() => {
    const series = buildSeries(items, period);
    return {
      times: series.times,
      requests: [
        { name: words.all, colour: "accent", values: series.count(({ requests }) => requests) },
        {
          name: texts.errorsWord,
          colour: "bad",
          values: series.count(({ failed, refused }) => failed + refused),
        },
        { name: texts.cancelled, colour: "warn", values: series.count(({ cancelled }) => cancelled) },
      ],
      tokens: [
        { name: texts.inWord, colour: "muted", values: series.count(({ prompt_tokens }) => prompt_tokens) },
        {
          name: texts.outWord,
          colour: "good",
          values: series.count(({ completion_tokens }) => completion_tokens),
        },
      ],
      cost: [{ name: texts.costWord, colour: "accent", values: series.count(({ cost }) => cost) }],
      firstToken: [
        { name: "p50", colour: "accent", values: series.pick((item) => item.first_token_ms?.p50 ?? null) },
        { name: "p95", colour: "warn", values: series.pick((item) => item.first_token_ms?.p95 ?? null) },
      ],
      duration: [
        { name: "p50", colour: "accent", values: series.pick((item) => item.duration_ms?.p50 ?? null) },
        { name: "p95", colour: "warn", values: series.pick((item) => item.duration_ms?.p95 ?? null) },
      ],
      queue: [{ name: "p95", colour: "accent", values: series.pick((item) => item.queue_ms?.p95 ?? null) }],
    } as const;
  }, [items, period]);
  const perUnit = unit === "hour" ? texts.hour : texts.day;
  const shared = { times, from: from / 1_000, to: times.at(-1) ?? to / 1_000, days: unit === "day" };
  const costChart = (
    <Chart
      title={texts.costPerUnit(perUnit)}
      lines={lines.cost}
      least={0.01}
      format={formatCost}
      {...shared}
    />
  );
  if (part === "first") {
    return (
      <section class="charts" aria-label={texts.requests(perUnit)}>
        <Chart
          title={texts.requests(perUnit)}
          lines={lines.requests}
          least={4}
          format={formatAmount}
          {...shared}
        />
        {!isNarrow && costChart}
      </section>
    );
  }
  return (
    <ChartList label={texts.overTime} shownNarrow={1}>
      <Chart
        title={texts.tokens(perUnit)}
        lines={lines.tokens}
        least={10}
        format={formatCompact}
        {...shared}
      />
      {isNarrow && costChart}
      <Chart
        title={texts.timeToFirstToken}
        lines={lines.firstToken}
        least={100}
        format={formatDuration}
        {...shared}
      />
      <Chart title={words.duration} lines={lines.duration} least={100} format={formatDuration} {...shared} />
      <Chart
        title={texts.waitingForAccount}
        lines={lines.queue}
        least={100}
        format={formatDuration}
        {...shared}
      />
    </ChartList>
  );
}
