import { useEffect, useRef, useState } from "preact/hooks";
import uPlot from "uplot";
import { watchColours } from "../theme.ts";
import { words } from "../words.ts";
import { type ColourName, resolveColour, toTranslucent } from "./colours.ts";
import { findIsolatedPoints } from "./isolated-points.ts";

/** One line of a chart; null: unknown value. */
export interface Line {
  readonly name: string;
  readonly colour: ColourName;
  readonly values: readonly (number | null)[];
}

interface ChartProps {
  readonly title: string;
  /** Unix seconds, one per value of each line. */
  readonly times: readonly number[];
  readonly lines: readonly Line[];
  /** Minimum of the axis maximum, so that small numbers do not look large. */
  readonly least: number;
  /** Formats a value. */
  readonly format: (value: number) => string;
  /** Time range of the chart in Unix seconds. */
  readonly from: number;
  readonly to: number;
  /** The values belong to whole days (UTC) and are labelled with dates. Default: values at points in time. */
  readonly days?: boolean;
  /** Called with the index of the clicked value. */
  readonly onPick?: (place: number) => void;
}

const HEIGHT = 150;
const DAY_S = 86_400;

function newestValue(values: Line["values"]): number | null {
  return values.findLast((value) => value !== null) ?? null;
}

function optionsFor(
  { lines, format, least, days = false }: ChartProps,
  width: number,
  onHover: (place: number | null) => void,
): uPlot.Options {
  const axis = {
    stroke: () => resolveColour("muted"),
    grid: { stroke: () => resolveColour("border"), width: 1 },
    ticks: { show: false },
    font: "11px system-ui, sans-serif",
  };
  return {
    width,
    height: HEIGHT,
    // The last label of the time axis is centred at its end.
    padding: [8, 18, 0, 0],
    cursor: { y: false, points: { size: 6 } },
    legend: { show: false },
    ...(days && { tzDate: (at: number) => uPlot.tzDate(new Date(at * 1_000), "Etc/UTC") }),
    hooks: { setCursor: [({ cursor }) => onHover(cursor.idx ?? null)] },
    scales: { x: { time: true }, y: { range: (_, __, high) => [0, Math.max(high ?? 0, least) * 1.15] } },
    axes: [
      {
        ...axis,
        grid: { show: false },
        size: 26,
        space: 60,
        values: (_, ticks) => ticks.map(days ? day : formatTick),
      },
      { ...axis, size: 54, space: 36, values: (_, ticks) => ticks.map(format) },
    ],
    series: [
      {},
      ...lines.map(({ name, colour }) => ({
        label: name,
        stroke: () => resolveColour(colour),
        fill: () => toTranslucent(resolveColour(colour)),
        width: 1.6,
        points: {
          size: 6,
          filter: (chart: uPlot, series: number) => findIsolatedPoints(Array.from(chart.data[series] ?? [])),
        },
        spanGaps: false,
      })),
    ],
  };
}

const clock = (at: number, seconds = false) =>
  new Date(at * 1000).toLocaleTimeString("en-GB", {
    hour: "2-digit",
    minute: "2-digit",
    ...(seconds && { second: "2-digit" }),
  });

const day = (at: number) =>
  new Date(at * 1000).toLocaleDateString("en-GB", { day: "numeric", month: "short", timeZone: "UTC" });

/** Formats an axis label: midnight shows the date. */
function formatTick(at: number): string {
  const date = new Date(at * 1000);
  const midnight = date.getHours() === 0 && date.getMinutes() === 0;
  return midnight ? date.toLocaleDateString("en-GB", { day: "numeric", month: "short" }) : clock(at);
}

/** Formats the time of the hovered value: seconds, minutes with the day for long ranges, or the day. */
function formatHoveredTime(at: number, span: number, days: boolean): string {
  if (days) return day(at);
  if (span <= DAY_S / 2) return clock(at, true);
  const date = new Date(at * 1000).toLocaleDateString("en-GB", { day: "numeric", month: "short" });
  return `${date} ${clock(at)}`;
}

/**
 * A line chart over time. Its key is its title: when a chart beside it comes or goes, Preact would otherwise give it
 * that chart's plot, with other lines and units.
 */
export function Chart(props: ChartProps) {
  return <Plot key={props.title} {...props} />;
}

/** The title row shows the newest or the hovered values as text, for accessibility. */
function Plot(props: ChartProps) {
  const { title, times, lines, format, from, to, days = false } = props;
  const container = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const firstProps = useRef(props);
  const latest = useRef(props);
  latest.current = props;
  /** Index of the hovered value. */
  const [hovered, setHovered] = useState<number | null>(null);

  useEffect(() => {
    const element = container.current;
    if (element === null) return;
    const chart = new uPlot(optionsFor(firstProps.current, element.clientWidth, setHovered), [[]], element);
    plot.current = chart;
    chart.over.addEventListener("click", () => {
      const { idx } = chart.cursor;
      if (typeof idx === "number") latest.current.onPick?.(idx);
    });
    const resized = new ResizeObserver(() => chart.setSize({ width: element.clientWidth, height: HEIGHT }));
    resized.observe(element);
    const stop = watchColours(() => chart.redraw(false));
    return () => {
      resized.disconnect();
      stop();
      chart.destroy();
      plot.current = null;
    };
  }, []);

  useEffect(() => {
    const chart = plot.current;
    if (chart === null) return;
    chart.batch(() => {
      chart.setData([[...times], ...lines.map(({ values }) => [...values])], false);
      chart.setScale("x", { min: from, max: to });
    });
  }, [times, lines, from, to]);

  const at = hovered === null ? undefined : times[hovered];
  return (
    <figure class="panel chart">
      <figcaption>
        <h2>{title}</h2>
        <ul>
          {at === undefined ? (
            <li class="moment">{words.latest}</li>
          ) : (
            <li class="moment">
              <time class="tabular">{formatHoveredTime(at, to - from, days)}</time>
            </li>
          )}
          {lines.map(({ name, colour, values }) => {
            const newest = at === undefined ? newestValue(values) : (values[hovered ?? 0] ?? null);
            return (
              <li key={name} class={`line-${colour}`}>
                {name} <strong class="tabular">{newest === null ? "–" : format(newest)}</strong>
              </li>
            );
          })}
        </ul>
      </figcaption>
      <div class={props.onPick === undefined ? "plot" : "plot picks"} ref={container} />
    </figure>
  );
}
