/** Counts by series: a metric's name with its labels in Prometheus form, such as `requests_total{status="200"}`. */
export type MetricDeltas = Readonly<Record<string, number>>;

/** Adds counts to a table of counts. */
export function addDeltas(totals: Map<string, number>, deltas: MetricDeltas): void {
  for (const [series, value] of Object.entries(deltas)) totals.set(series, (totals.get(series) ?? 0) + value);
}

/** Label values of one series by label name. */
export type Labels = Readonly<Record<string, string>>;

/** A label value as Prometheus' text format writes it. */
function escaped(value: string): string {
  return value.replace(/[\\"\n]/g, (character) => (character === "\n" ? "\\n" : `\\${character}`));
}

/** The name of a series. Labels keep the order in which they are given. */
export function series(name: string, labels: Labels): string {
  const parts = Object.entries(labels).map(([label, value]) => `${label}="${escaped(value)}"`);
  return parts.length === 0 ? name : `${name}{${parts.join(",")}}`;
}

/** A histogram's name with the upper bounds of its buckets, ascending. */
export interface Histogram {
  readonly name: string;
  readonly bounds: readonly number[];
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

  add(name: string, labels: Labels, value = 1): void {
    const key = series(name, labels);
    this.#deltas[key] = (this.#deltas[key] ?? 0) + value;
    this.#empty = false;
  }

  /** Adds one observation. A bucket counts what is in it alone; they are summed up when they are shown. */
  observe({ name, bounds }: Histogram, labels: Labels, value: number): void {
    const bound = bounds.find((upper) => value <= upper);
    this.add(`${name}_bucket`, { ...labels, le: bound === undefined ? "+Inf" : String(bound) });
    this.add(`${name}_sum`, labels, value);
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
