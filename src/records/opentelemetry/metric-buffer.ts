import {
  type Attributes,
  createHistogram,
  type HistogramPoint,
  type Metric,
  toKeyValues,
  toNanoseconds,
} from "./otlp.ts";

/** A histogram that the gateway reports. */
export interface Instrument extends Pick<Metric, "name" | "description" | "unit"> {
  readonly bounds: readonly number[];
}

/** Most combinations of attributes of one instrument between two messages, as OpenTelemetry's SDKs have it. */
const MAX_SERIES = 2_000;
/** The attributes of observations that have no place any more (specification of the metrics SDK, cardinality limits). */
const OVERFLOW: Attributes = { "otel.metric.overflow": true };

interface Series {
  readonly attributes: Attributes;
  readonly bucketCounts: number[];
  count: number;
  sum: number;
}

/** The observations of one isolate since the last message. */
export class MetricBuffer {
  readonly #now: () => number;
  #series = new Map<Instrument, Map<string, Series>>();
  #since: number;

  constructor(now: () => number) {
    this.#now = now;
    this.#since = now();
  }

  get isEmpty(): boolean {
    return this.#series.size === 0;
  }

  /** Adds an observation. */
  observe(instrument: Instrument, value: number, attributes: Attributes): void {
    const { bounds } = instrument;
    const found = bounds.findIndex((upper) => value <= upper);
    const series = this.#findSeries(instrument, attributes);
    const index = found < 0 ? bounds.length : found;
    series.bucketCounts[index] = (series.bucketCounts[index] ?? 0) + 1;
    series.count += 1;
    series.sum += value;
  }

  #findSeries(instrument: Instrument, attributes: Attributes): Series {
    const all = this.#series.get(instrument) ?? new Map<string, Series>();
    this.#series.set(instrument, all);
    const key = JSON.stringify(attributes);
    const existing = all.get(key);
    if (existing !== undefined) return existing;
    if (all.size >= MAX_SERIES && attributes !== OVERFLOW) return this.#findSeries(instrument, OVERFLOW);
    const bucketCounts = Array<number>(instrument.bounds.length + 1).fill(0);
    const series = { attributes, bucketCounts, count: 0, sum: 0 };
    all.set(key, series);
    return series;
  }

  /** Returns the observations as metrics, and forgets them. */
  take(): readonly Metric[] {
    const startTimeUnixNano = toNanoseconds(this.#since);
    this.#since = this.#now();
    const timeUnixNano = toNanoseconds(this.#since);
    const taken = this.#series;
    this.#series = new Map();
    return Array.from(taken, ([instrument, series]) =>
      createHistogram(
        instrument,
        Array.from(
          series.values(),
          ({ attributes, bucketCounts, count, sum }): HistogramPoint => ({
            attributes: toKeyValues(attributes),
            startTimeUnixNano,
            timeUnixNano,
            count,
            sum,
            bucketCounts,
            explicitBounds: instrument.bounds,
          }),
        ),
      ),
    );
  }
}
