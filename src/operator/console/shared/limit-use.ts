import type { Subject } from "../api/subjects.ts";

/** How much of a limit is used: both in the limit's unit. */
export interface LimitUse {
  /** Name in the configuration. */
  readonly name: string;
  readonly used: number;
  readonly limit: number;
}

/** The limits of a key, a team, a user, a tag or a provider, and what counts towards them. */
export type Limited = Pick<Subject, "limits" | "used">;

/** What is used of each limit that is set. */
export function listLimitUse({ limits, used }: Limited): readonly LimitUse[] {
  const amounts = [
    ["requests_per_minute", used.requests_per_minute],
    ["tokens_per_minute", used.tokens_per_minute],
    ["max_parallel", used.parallel],
    ["tokens_per_day", used.tokens_per_day],
    ["tokens_per_month", used.tokens_per_month],
    ["cost_per_day", used.cost_per_day],
    ["cost_per_month", used.cost_per_month],
  ] as const;
  return amounts.flatMap(([name, amount]) => {
    const limit = Number(limits[name]);
    return limit > 0 ? [{ name, used: amount, limit }] : [];
  });
}

/** Whether a limit of a day or a month is used up. Limits of a minute are free again before anyone reads of them. */
export const isBudgetUsedUp = (limited: Limited): boolean =>
  listLimitUse(limited).some(({ name, used, limit }) => /_(?:day|month)$/.test(name) && used >= limit);
