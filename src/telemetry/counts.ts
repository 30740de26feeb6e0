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
    this.#add(series(name, labels), value);
  }

  /** Adds one observation. A bucket counts what is in it alone; they are summed up when they are shown. */
  observe({ name, bounds }: Histogram, labels: Labels, value: number): void {
    const bound = bounds.find((upper) => value <= upper);
    const text = labelText(labels);
    this.#add(`${name}_bucket{${text}${text === "" ? "" : ","}le="${bound ?? "+Inf"}"}`, 1);
    this.#add(named(`${name}_sum`, text), value);
  }

  #add(key: string, value: number): void {
    this.#deltas[key] = (this.#deltas[key] ?? 0) + value;
    this.#empty = false;
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
