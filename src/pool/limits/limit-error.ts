import { isBudget, LIMIT_KINDS, type LimitKind } from "../../core/config/limit-kinds.ts";
import { GatewayError } from "../../core/errors/gateway-error.ts";
import { type LimitRefusal, parseSubject } from "../../core/ports/subject-limits.ts";
import { DAY_MS, NANO } from "../../core/units.ts";
import { CALENDARS } from "./calendar-period.ts";

/** A limit in error messages. */
const describeLimit = ({ unit, span }: LimitKind) =>
  span === "parallel" ? `${unit} at once` : `${unit} per ${span}`;

/** Whose limit an error message is about. */
export function describeSubject(name: string | undefined): string {
  if (name === undefined) return "this API key";
  const { kind, id } = parseSubject(name);
  if (kind === "key") return "this API key";
  return `the ${kind} ${JSON.stringify(id)}`;
}

/** When there is room again, Unix milliseconds. The pool told it a moment ago, so `at` is only close to a budget's renewal. */
function findResetTime(kind: LimitKind, at: number): number {
  if (!isBudget(kind)) return Math.ceil(at / 1_000) * 1_000;
  const calendar = CALENDARS[kind.span];
  return calendar.startOf(calendar.indexOf(at + DAY_MS / 2));
}

/**
 * The error for a caller whose key, user, team, tag or provider has reached a limit: which limit, how much was used,
 * and when there is room again. It has no `Retry-After` (docs/contract/errors.md).
 *
 * @param now Unix milliseconds
 */
export function createLimitError(
  { subject, limit, max, used, resetMs }: LimitRefusal,
  now: number,
): GatewayError {
  const kind = LIMIT_KINDS[limit];
  const isCost = kind.unit === "cost";
  const amount = (value: number) => (isCost ? String(Number((value / NANO).toFixed(6))) : String(value));
  const resetsAt = resetMs === null ? null : new Date(findResetTime(kind, now + resetMs)).toISOString();
  const details = {
    ...(subject === undefined ? {} : { subject: parseSubject(subject) }),
    limit,
    max: isCost ? max / NANO : max,
    resets_at: resetsAt,
  };
  const limitText = `${describeLimit(kind)} (limit ${amount(max)}, used ${amount(used)})`;
  if (isBudget(kind)) {
    return new GatewayError(
      429,
      `${describeSubject(subject)} has used up its budget: ${limitText}; it is renewed at ${resetsAt}`,
      {
        code: "insufficient_quota",
        details,
        // SDKs read this header before they retry automatically.
        headers: { "x-should-retry": "false" },
      },
    );
  }
  const owner = subject === undefined ? "" : `${describeSubject(subject)}: `;
  const seconds = resetMs === null ? null : Math.max(1, Math.ceil(resetMs / 1000));
  const advice =
    kind.span === "parallel"
      ? "try again when one of them has ended"
      : seconds === null
        ? "the request alone is larger than that: make it smaller"
        : `try again in ${seconds} s`;
  return new GatewayError(429, `rate limit reached for ${owner}${limitText}: ${advice}`, {
    code: "rate_limit_exceeded",
    details: seconds === null ? details : { ...details, retry_after_seconds: seconds },
  });
}
