import type { SpentAmounts } from "../../core/ports/subject-limits.ts";
import { DAYS, MONTHS, Period } from "./calendar-period.ts";
import type { StoredSum } from "./use-store.ts";

/** What an ended request has used. Use beyond the reservation (`extraTokens`, `extraCost`) counts from its end. */
export interface EndedUse extends SpentAmounts {
  readonly begunAt: number;
  readonly endedAt: number;
  readonly extraTokens: number;
  readonly extraCost: number;
}

/**
 * The use of each subject in its newest day and month by the requests that are no longer stored one by one. These sums are
 * stored instead.
 */
export class EndedSums {
  readonly #periods = new Map<string, { readonly day: Period; readonly month: Period }>();
  /** Subjects whose sums have changed and are not stored yet. */
  readonly #unstored = new Set<string>();

  get hasUnstored(): boolean {
    return this.#unstored.size > 0;
  }

  /** Takes a sum from the storage. */
  restore({ subject, day, dayTokens, dayCost, month, monthTokens, monthCost }: StoredSum): void {
    const periods = this.#getPeriods(subject);
    periods.day.restore(day, { tokens: dayTokens, cost: dayCost });
    periods.month.restore(month, { tokens: monthTokens, cost: monthCost });
  }

  /** Adds an ended request to the sums of a subject. */
  add(subject: string, use: EndedUse, now: number): void {
    const { day, month } = this.#getPeriods(subject);
    const extra = { tokens: use.extraTokens, cost: use.extraCost };
    for (const period of [day, month]) {
      period.roll(now);
      period.add(use.begunAt, use);
      period.add(use.endedAt, extra);
    }
    this.#unstored.add(subject);
  }

  /** The sums to store. */
  listUnstored(): StoredSum[] {
    return Array.from(this.#unstored, (subject) => this.#toStored(subject));
  }

  /** The storage has all sums. */
  markStored(): void {
    this.#unstored.clear();
  }

  #toStored(subject: string): StoredSum {
    const { day, month } = this.#getPeriods(subject);
    return {
      subject,
      day: day.index,
      dayTokens: day.tokens,
      dayCost: day.cost,
      month: month.index,
      monthTokens: month.tokens,
      monthCost: month.cost,
    };
  }

  #getPeriods(subject: string): { readonly day: Period; readonly month: Period } {
    let periods = this.#periods.get(subject);
    if (periods === undefined) {
      periods = { day: new Period(DAYS), month: new Period(MONTHS) };
      this.#periods.set(subject, periods);
    }
    return periods;
  }
}
