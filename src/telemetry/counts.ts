import type { MetricDeltas } from "../platform/archive.ts";

/** Adds counts to a table of counts. */
export function addDeltas(totals: Map<string, number>, deltas: MetricDeltas): void {
  for (const [series, value] of Object.entries(deltas)) totals.set(series, (totals.get(series) ?? 0) + value);
}

/** Label values of one series by label name. */
export type Labels = Readonly<Record<string, string>>;

const SPECIAL = /[\\"\n]/;

/** A label value as Prometheus' text format writes it. */
function escaped(value: string): string {
  if (!SPECIAL.test(value)) return value;
  return value.replace(/[\\"\n]/g, (character) => (character === "\n" ? "\\n" : `\\${character}`));
}

/** Labels as they stand between the braces, in the order in which they are given. */
function labelText(labels: Labels): string {
  let text = "";
  for (const label in labels) {
    text += `${text === "" ? "" : ","}${label}="${escaped(labels[label] ?? "")}"`;
  }
  return text;
}

function named(name: string, labels: string): string {
  return labels === "" ? name : `${name}{${labels}}`;
}

/** The name of a series. Labels keep the order in which they are given. */
export function series(name: string, labels: Labels): string {
  return named(name, labelText(labels));
}

/** A histogram's name with the upper bounds of its buckets, ascending. */
export interface Histogram {
  readonly name: string;
  readonly bounds: readonly number[];
}

/** The series of a histogram with one set of labels: whoever observes much keeps it, as its names are made once. */
export class HistogramSeries {
  readonly #histogram: Histogram;
  readonly #labels: string;
  /** By the place of the bound; that of what is beyond all comes last. */
  readonly #buckets: (string | undefined)[];
  /** Of what was observed. */
  readonly sum: string;

  constructor(histogram: Histogram, labels: Labels) {
    this.#histogram = histogram;
    this.#labels = labelText(labels);
    this.#buckets = Array<string | undefined>(histogram.bounds.length + 1).fill(undefined);
    this.sum = named(`${histogram.name}_sum`, this.#labels);
  }

  /** The bucket that a value is in. */
  bucket(value: number): string {
    const { name, bounds } = this.#histogram;
    const found = bounds.findIndex((upper) => value <= upper);
    const place = found < 0 ? bounds.length : found;
    const text = this.#labels;
    const bucket =
      this.#buckets[place] ??
      `${name}_bucket{${text}${text === "" ? "" : ","}le="${bounds[place] ?? "+Inf"}"}`;
    this.#buckets[place] = bucket;
    return bucket;
  }
}

/**
 * Counts of one isolate that have not been handed on yet.
 *
 * Isolates come and go by the dozen and nobody can ask each of them, so they hand on what they have counted and one
 * place adds it up. The usual client libraries keep totals within a process, which here would be scraped at random; that
 * is why this is our own.
 */
export class Counts {
  #deltas: Record<string, number> = {};
  #empty = true;

  get empty(): boolean {
    return this.#empty;
  }

  /** Adds to a series (see {@link series}). */
  add(key: string, value = 1): void {
    this.#deltas[key] = (this.#deltas[key] ?? 0) + value;
    this.#empty = false;
  }

  /** Adds one observation. A bucket counts what is in it alone; they are summed up when they are shown. */
  observe(histogram: HistogramSeries, value: number): void {
    this.add(histogram.bucket(value));
    this.add(histogram.sum, value);
  }

  /** Puts counts back that could not be handed on. */
  restore(deltas: MetricDeltas): void {
    for (const [key, value] of Object.entries(deltas)) this.#deltas[key] = (this.#deltas[key] ?? 0) + value;
    this.#empty = false;
  }

  /** Hands on what was counted, and starts at nothing. */
  take(): MetricDeltas {
    const taken = this.#deltas;
    this.#deltas = {};
    this.#empty = true;
    return taken;
  }
}
