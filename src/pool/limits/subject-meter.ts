import type {
  LimitName,
  LimitRefusal,
  RateWindowState,
  RemainingLimits,
  SpentAmounts,
  SubjectLimits,
  SubjectUsage,
} from "../../core/ports/subject-limits.ts";
import { DAYS, MONTHS, Period } from "./calendar-period.ts";
import { RollingMinute } from "./rolling-minute.ts";

/** Counts the use of one subject (a key, team, user, tag or provider) and checks its limits. */
export class SubjectMeter {
  /** See `formatSubject`. */
  readonly subject: string;
  readonly minute = new RollingMinute();
  readonly day = new Period(DAYS);
  readonly month = new Period(MONTHS);
  /** Admitted requests that have not ended, including waiting ones. */
  parallel = 0;

  constructor(subject: string) {
    this.subject = subject;
  }

  /** Advances to `now`. Must be called before anything else. */
  roll(now: number): void {
    this.minute.roll(now);
    this.day.roll(now);
    this.month.roll(now);
  }

  /** Adds, or with negative numbers subtracts, use of a day and a month. */
  addSpent(at: number, spent: SpentAmounts): void {
    this.day.add(at, spent);
    this.month.add(at, spent);
  }

  /**
   * Why another request is not allowed; null: it is. A budget admits requests while anything of it is left, so the last one
   * may exceed it. A minute never exceeds its limit.
   */
  checkLimits(limits: SubjectLimits, { tokens }: SpentAmounts, now: number): LimitRefusal | null {
    const { day, month, minute } = this;
    return (
      checkLimit(limits, "cost_per_month", month.cost, () => month.untilNext(now)) ??
      checkLimit(limits, "tokens_per_month", month.tokens, () => month.untilNext(now)) ??
      checkLimit(limits, "cost_per_day", day.cost, () => day.untilNext(now)) ??
      checkLimit(limits, "tokens_per_day", day.tokens, () => day.untilNext(now)) ??
      checkLimit(limits, "max_parallel", this.parallel, () => null) ??
      checkLimit(limits, "requests_per_minute", minute.requests, (max) =>
        minute.untilFreed(now, minute.requests - max + 1, 0),
      ) ??
      checkLimit(
        limits,
        "tokens_per_minute",
        minute.tokens,
        (max) => (tokens > max ? null : minute.untilFreed(now, 0, minute.tokens - max + tokens)),
        tokens,
      )
    );
  }

  /** The remaining requests and tokens of the minute. */
  windowStates(limits: SubjectLimits, now: number): RemainingLimits {
    const { requests, tokens } = this.minute;
    return {
      requests: windowState(limits.requests_per_minute, requests, this.minute, now),
      tokens: windowState(limits.tokens_per_minute, tokens, this.minute, now),
    };
  }

  currentUse(): SubjectUsage {
    const { subject, parallel, minute, day, month } = this;
    return {
      key: subject,
      parallel,
      minute: { requests: minute.requests, tokens: minute.tokens },
      day: { tokens: day.tokens, cost: day.cost },
      month: { tokens: month.tokens, cost: month.cost },
    };
  }
}

/** `requested`: how much of the limit the request takes; without it any remainder is enough. */
function checkLimit(
  limits: SubjectLimits,
  limit: LimitName,
  used: number,
  resetMs: (max: number) => number | null,
  requested?: number,
): LimitRefusal | null {
  const max = limits[limit] ?? 0;
  if (max <= 0) return null;
  const fits = requested === undefined ? used < max : used + requested <= max;
  return fits ? null : { limit, max, used, resetMs: resetMs(max) };
}

function windowState(
  limit: number | undefined,
  used: number,
  minute: RollingMinute,
  now: number,
): RateWindowState | null {
  if (limit === undefined || limit <= 0) return null;
  return { limit, remaining: Math.max(0, limit - used), resetMs: minute.untilEmpty(now) };
}
