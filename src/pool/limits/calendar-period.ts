import type { SpentAmounts } from "../../core/ports/subject-limits.ts";
import { DAY_MS } from "../../core/units.ts";

/** A kind of time span: its spans are numbered, and each ends where the next begins. In UTC. */
export interface Calendar {
  indexOf(at: number): number;
  /** Unix milliseconds. */
  startOf(index: number): number;
}

export const DAYS: Calendar = {
  indexOf: (at) => Math.floor(at / DAY_MS),
  startOf: (index) => index * DAY_MS,
};

export const MONTHS: Calendar = {
  indexOf: (at) => {
    const date = new Date(at);
    return date.getUTCFullYear() * 12 + date.getUTCMonth();
  },
  startOf: (index) => Date.UTC(Math.floor(index / 12), index % 12),
};

export const CALENDARS = { day: DAYS, month: MONTHS } as const;

/** The use in the current span of a calendar. */
export class Period {
  index: number;
  tokens = 0;
  cost = 0;
  readonly #calendar: Calendar;

  constructor(calendar: Calendar, index = Number.NEGATIVE_INFINITY) {
    this.#calendar = calendar;
    this.index = index;
  }

  /** Takes the use of a span from the storage. */
  restore(index: number, { tokens, cost }: SpentAmounts): void {
    this.index = index;
    this.tokens = tokens;
    this.cost = cost;
  }

  /** Starts a new span when its time has come. A clock that was set back a little does not return to an old span. */
  roll(now: number): void {
    const index = this.#calendar.indexOf(now);
    if (index === this.index || index === this.index - 1) return;
    this.index = index;
    this.tokens = 0;
    this.cost = 0;
  }

  /** Adds use that belongs to the span of `at`; use of other spans does not count. */
  add(at: number, { tokens, cost }: SpentAmounts): void {
    if (this.#calendar.indexOf(at) !== this.index) return;
    this.tokens += tokens;
    this.cost += cost;
  }

  /** Milliseconds until the next span. */
  getMsUntilNext(now: number): number {
    return Math.max(0, this.#calendar.startOf(this.index + 1) - now);
  }
}
