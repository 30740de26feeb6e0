import { LIMIT_KINDS, LIMIT_NAMES, type LimitKind } from "../../core/config/limit-kinds.ts";
import {
  getUsedAmount,
  type LimitRefusal,
  type RateWindowState,
  type RemainingLimits,
  type SpentAmounts,
  type SubjectLimits,
  type SubjectUsage,
} from "../../core/ports/subject-limits.ts";
import { DAYS, MONTHS, Period } from "./calendar-period.ts";
import { RollingMinute } from "./rolling-minute.ts";

/** Limits that take longest to recover come first, so that a refusal states the latest time. */
const SPAN_ORDER: readonly LimitKind["span"][] = ["month", "day", "parallel", "minute"];
const UNIT_ORDER: readonly LimitKind["unit"][] = ["cost", "requests", "tokens"];
const getRank = ({ span, unit }: LimitKind) =>
  SPAN_ORDER.indexOf(span) * UNIT_ORDER.length + UNIT_ORDER.indexOf(unit);
const CHECK_ORDER = [...LIMIT_NAMES].sort((a, b) => getRank(LIMIT_KINDS[a]) - getRank(LIMIT_KINDS[b]));

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
   *
   * @param expected null: the request costs nothing, so that only limits of requests can refuse it
   */
  checkLimits(limits: SubjectLimits, expected: SpentAmounts | null, now: number): LimitRefusal | null {
    const tokens = expected?.tokens ?? 0;
    for (const name of CHECK_ORDER) {
      const max = limits[name] ?? 0;
      if (max <= 0) continue;
      const kind = LIMIT_KINDS[name];
      if (expected === null && kind.unit !== "requests") continue;
      const used = getUsedAmount(this, kind);
      const isTokensOfMinute = kind.span === "minute" && kind.unit === "tokens";
      const fits = isTokensOfMinute ? used + tokens <= max : used < max;
      if (!fits) return { limit: name, max, used, resetMs: this.#getMsUntilRoom(kind, max, tokens, now) };
    }
    return null;
  }

  /** Milliseconds until another request fits; null: time alone makes no room. */
  #getMsUntilRoom({ span, unit }: LimitKind, max: number, tokens: number, now: number): number | null {
    const { minute } = this;
    if (span === "parallel") return null;
    if (span !== "minute") return this[span].getMsUntilNext(now);
    if (unit === "requests") return minute.getMsUntilFreed(now, minute.requests - max + 1, 0);
    return tokens > max ? null : minute.getMsUntilFreed(now, 0, minute.tokens - max + tokens);
  }

  /** The remaining requests and tokens of the minute. */
  getWindowStates(limits: SubjectLimits, now: number): RemainingLimits {
    const { requests, tokens } = this.minute;
    return {
      requests: getWindowState(limits.requests_per_minute, requests, this.minute, now),
      tokens: getWindowState(limits.tokens_per_minute, tokens, this.minute, now),
    };
  }

  getCurrentUse(): SubjectUsage {
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

function getWindowState(
  limit: number | undefined,
  used: number,
  minute: RollingMinute,
  now: number,
): RateWindowState | null {
  if (limit === undefined || limit <= 0) return null;
  return { limit, remaining: Math.max(0, limit - used), resetMs: minute.getMsUntilEmpty(now) };
}
