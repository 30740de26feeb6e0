import type { MetricDeltas } from "../../core/ports/archive.ts";
import { OTHER_VALUES } from "../../core/ports/usage.ts";

/** Limit of series. */
const MAX_SERIES = 5_000;

/** Limit of the names of all series together, as JSON. A row of a Durable Object's database holds at most 2 MB. */
const MAX_NAME_BYTES = 1_000_000;

/** The label with the name of a model. Callers choose its value. */
const MODEL_LABEL = /([{,](?:gen_ai_request_)?model=)"((?:[^"\\]|\\.)*)"/;

/**
 * Returns the series of all models that have no series of their own.
 * Null: the series is of no model, or this one itself.
 */
function toSharedSeries(series: string): string | null {
  const [, , model] = MODEL_LABEL.exec(series) ?? [];
  if (model === undefined || model === OTHER_VALUES) return null;
  return series.replace(MODEL_LABEL, `$1"${OTHER_VALUES}"`);
}

const countBytes = (name: string): number => new TextEncoder().encode(JSON.stringify(name)).byteLength;

/**
 * The totals of all metric series. Callers can invent names of models, so the number of series is bounded: beyond it, the
 * series that has not been counted for longest is added to the one of all other models. Sums over all models stay exact.
 */
export class MetricTotals {
  /** The series that was counted last is last. */
  readonly #totals = new Map<string, number>();
  #nameBytes = 0;

  add(deltas: MetricDeltas): void {
    for (const [series, value] of Object.entries(deltas)) this.#add(series, value);
    if (this.#isFull()) this.#mergeOldest();
  }

  toDeltas(): MetricDeltas {
    return Object.fromEntries(this.#totals);
  }

  #add(series: string, value: number): void {
    const total = this.#totals.get(series);
    if (total === undefined) this.#nameBytes += countBytes(series);
    else this.#totals.delete(series);
    this.#totals.set(series, (total ?? 0) + value);
  }

  #isFull(): boolean {
    return this.#totals.size > MAX_SERIES || this.#nameBytes > MAX_NAME_BYTES;
  }

  /** Merges the oldest series of models until there is room. */
  #mergeOldest(): void {
    for (const [series, value] of this.#totals) {
      const shared = toSharedSeries(series);
      if (shared === null) continue;
      this.#totals.delete(series);
      this.#nameBytes -= countBytes(series);
      this.#add(shared, value);
      if (!this.#isFull()) return;
    }
  }
}
