import { RecentMap } from "../../../core/encoding/recent-map.ts";
import { MINUTE_MS } from "../../../core/units.ts";

/** Most models remembered. */
const MAX_MODELS = 1_000;
/** Most measurements of a model. */
const MAX_MEASUREMENTS = 25;
/** A measurement counts for this long, milliseconds. A model without one is measured again. */
const MEASUREMENT_LIFETIME_MS = 10 * MINUTE_MS;
/** While a model is being measured, other conversations do not wait for it, milliseconds. */
const TRIAL_MS = 60_000;

interface Measurement {
  readonly at: number;
  readonly ms: number;
}

/** How long models recently took until their first token, as one isolate has seen it. */
export class FirstTokenTimes {
  readonly #measurements = new RecentMap<readonly Measurement[]>(MAX_MODELS, MEASUREMENT_LIFETIME_MS);
  readonly #trials = new RecentMap<true>(MAX_MODELS, TRIAL_MS);

  /** Records the time of one answer. */
  record(id: string, ms: number, now: number): void {
    const recent = this.#recent(id, now).slice(1 - MAX_MEASUREMENTS);
    this.#measurements.set(id, [...recent, { at: now, ms }], now);
    this.#trials.delete(id);
  }

  /** Notes that a request measures the model. */
  beginTrial(id: string, now: number): void {
    this.#trials.set(id, true, now);
  }

  /** The median; null: the next request should measure the model. Infinite: another request measures it. */
  find(id: string, now: number): number | null {
    const times = this.#recent(id, now)
      .map(({ ms }) => ms)
      .sort((left, right) => left - right);
    const median = times[Math.floor((times.length - 1) / 2)];
    if (median !== undefined) return median;
    return this.#trials.get(id, now) === true ? Number.POSITIVE_INFINITY : null;
  }

  #recent(id: string, now: number): readonly Measurement[] {
    const all = this.#measurements.get(id, now) ?? [];
    return all.filter(({ at }) => at > now - MEASUREMENT_LIFETIME_MS);
  }
}
