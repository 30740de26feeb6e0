import type { MetricDeltas } from "../../core/ports/archive.ts";

/** Label values of one series by label name. */
export type Labels = Readonly<Record<string, string>>;

const SPECIAL = /[\\"\n]/;

/** Escapes a label value for Prometheus' text format. */
function escapeLabel(value: string): string {
  if (!SPECIAL.test(value)) return value;
  return value.replace(/[\\"\n]/g, (character) => (character === "\n" ? "\\n" : `\\${character}`));
}

/** Formats labels as between the braces, in the given order. */
function formatLabels(labels: Labels): string {
  let text = "";
  for (const label in labels) {
    text += `${text === "" ? "" : ","}${label}="${escapeLabel(labels[label] ?? "")}"`;
  }
  return text;
}

function formatSeries(name: string, labels: string): string {
  return labels === "" ? name : `${name}{${labels}}`;
}

/** Formats the name of a series, with labels in the given order. */
export function formatSeriesName(name: string, labels: Labels): string {
  return formatSeries(name, formatLabels(labels));
}

/** A histogram's name, with the upper bounds of its buckets, ascending. */
export interface Histogram {
  readonly name: string;
  readonly bounds: readonly number[];
}

/**
 * The series of a histogram with one set of labels. Frequent users store the object, because it builds each name only once.
 */
export class HistogramSeries {
  readonly #histogram: Histogram;
  readonly #labels: string;
  /** Series names by index of the bound; the bucket above all bounds is last. */
  readonly #buckets: (string | undefined)[];
  /** Name of the series that sums the observed values. */
  readonly sum: string;

  constructor(histogram: Histogram, labels: Labels) {
    this.#histogram = histogram;
    this.#labels = formatLabels(labels);
    this.#buckets = Array<string | undefined>(histogram.bounds.length + 1).fill(undefined);
    this.sum = formatSeries(`${histogram.name}_sum`, this.#labels);
  }

  /** The series name of the value's bucket. */
  bucket(value: number): string {
    const { name, bounds } = this.#histogram;
    const boundIndex = bounds.findIndex((upper) => value <= upper);
    const index = boundIndex < 0 ? bounds.length : boundIndex;
    const labels = this.#labels;
    const bucket =
      this.#buckets[index] ??
      `${name}_bucket{${labels}${labels === "" ? "" : ","}le="${bounds[index] ?? "+Inf"}"}`;
    this.#buckets[index] = bucket;
    return bucket;
  }
}

/**
 * Counts of one isolate since the last report.
 *
 * Isolates come and go by the dozen and cannot be scraped individually. So they report increments, and one place adds them
 * up. The usual client libraries keep totals in each process, of which a scrape would read a random one. Hence this own
 * implementation.
 */
export class Counts {
  #deltas: Record<string, number> = {};
  #isEmpty = true;

  get isEmpty(): boolean {
    return this.#isEmpty;
  }

  /** Adds to a series (see {@link formatSeriesName}). */
  add(key: string, value = 1): void {
    this.#deltas[key] = (this.#deltas[key] ?? 0) + value;
    this.#isEmpty = false;
  }

  /** Adds one observation. Buckets are not cumulative here; the exposition sums them up. */
  observe(histogram: HistogramSeries, value: number): void {
    this.add(histogram.bucket(value));
    this.add(histogram.sum, value);
  }

  /** Adds back counts whose report failed. */
  restore(deltas: MetricDeltas): void {
    for (const [key, value] of Object.entries(deltas)) this.#deltas[key] = (this.#deltas[key] ?? 0) + value;
    this.#isEmpty = false;
  }

  /** Returns the counts and resets them. */
  take(): MetricDeltas {
    const deltas = this.#deltas;
    this.#deltas = {};
    this.#isEmpty = true;
    return deltas;
  }
}
