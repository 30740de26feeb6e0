import { useMemo, useState } from "preact/hooks";
import { listHistory } from "../../api/history.ts";
import { Button } from "../../ui/button.tsx";
import { Chart } from "../../ui/chart.tsx";
import { compact } from "../../ui/format.ts";
import { useLoaded } from "../../ui/use-loaded.ts";
import { pastSpans } from "./backfill.ts";
import { type Reading, type Span, smoothed, spansOf } from "./readings.ts";
import { HOUR_MS } from "./recording.ts";

/** Records that are read for the time before this console was watching: the gateway's largest page. */
const HISTORY_PAGE = 1_000;
/** What the charts can show: minutes, and their name. */
const RANGES = [
  [5, "5 min"],
  [15, "15 min"],
  [60, "1 hour"],
] as const;
/** Points that a chart has at most. */
const POINTS = 240;
const perSecond = (value: number) => (value < 10 ? String(Number(value.toFixed(2))) : compact(value));
const whole = (value: number) => (Number.isInteger(value) ? String(value) : value.toFixed(1));
const seconds = (value: number) => (value < 1 ? `${Math.round(value * 1_000)} ms` : `${value.toFixed(1)} s`);

/** The last minutes, or the last hour, in pictures. */
export function ActivityCharts({ readings }: { readonly readings: readonly Reading[] }) {
  const [minutes, setMinutes] = useState(60);
  const to = (readings.at(-1)?.at ?? Date.now()) / 1_000;
  const from = to - minutes * 60;
  const history = useLoaded((signal) => listHistory(new URLSearchParams(), 1, HISTORY_PAGE, signal)).data;
  const spans = useMemo(() => {
    const live = spansOf(readings).filter(({ time }) => time >= from);
    const begun = readings[0]?.at ?? Date.now();
    const items = history?.items ?? [];
    const full = history !== null && items.length >= Math.min(history.limit, HISTORY_PAGE);
    const past = history === null ? [] : pastSpans(items, full, Date.now() - HOUR_MS, begun);
    return [...past, ...smoothed(live, Math.max(1, Math.ceil(live.length / POINTS)))];
  }, [readings, history, from]);
  const times = useMemo(() => spans.map(({ time }) => time), [spans]);
  const lines = useMemo(() => {
    const line = (pick: (span: Span) => number | null) => spans.map(pick);
    return {
      load: [
        { name: "in use", colour: "accent", values: line(({ inUse }) => inUse) },
        { name: "waiting", colour: "warn", values: line(({ waiting }) => waiting) },
      ],
      requests: [
        { name: "requests", colour: "accent", values: line(({ requests }) => requests) },
        { name: "errors", colour: "bad", values: line(({ errors }) => errors) },
      ],
      firstToken: [{ name: "mean", colour: "accent", values: line(({ firstToken }) => firstToken) }],
      tokens: [
        { name: "in", colour: "muted", values: line(({ promptTokens }) => promptTokens) },
        { name: "out", colour: "good", values: line(({ completionTokens }) => completionTokens) },
      ],
    } as const;
  }, [spans]);
  const shared = { times, from, to };
  return (
    <section class="activity" aria-label="Activity">
      <header class="row">
        <h2 class="grow">Activity</h2>
        {RANGES.map(([choice, name]) => (
          <Button key={choice} pressed={choice === minutes} onClick={() => setMinutes(choice)}>
            {name}
          </Button>
        ))}
      </header>
      <div class="charts">
        <Chart
          title="Requests and errors a second"
          lines={lines.requests}
          least={1}
          format={perSecond}
          {...shared}
        />
        <Chart
          title="Time to first token"
          lines={lines.firstToken}
          least={0.2}
          format={seconds}
          {...shared}
        />
        <Chart title="Tokens a second" lines={lines.tokens} least={10} format={perSecond} {...shared} />
        <Chart title="Slots and queue" lines={lines.load} least={4} format={whole} {...shared} />
      </div>
    </section>
  );
}
