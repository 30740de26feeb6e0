import { isBudget, LIMIT_KINDS, LIMIT_NAMES, type LimitName } from "../../../core/config/limit-kinds.ts";
import type { Subject } from "../api/subjects.ts";

/** How much of a limit is used: both in the limit's unit. */
export interface LimitUse {
  /** Name in the configuration. */
  readonly name: LimitName;
  readonly used: number;
  readonly limit: number;
}

/** The limits of a key, a team, a user, a tag or a provider, and what counts towards them. */
export type Limited = Pick<Subject, "limits" | "used">;

/** What is used of each limit that is set. */
export function listLimitUse({ limits, used }: Limited): readonly LimitUse[] {
  return LIMIT_NAMES.flatMap((name) => {
    const limit = Number(limits[name]);
    return limit > 0 ? [{ name, used: used[name === "max_parallel" ? "parallel" : name], limit }] : [];
  });
}

/** Whether a limit of a day or a month is used up. Limits of a minute are free again before anyone reads of them. */
export const isBudgetUsedUp = (limited: Limited): boolean =>
  listLimitUse(limited).some(({ name, used, limit }) => isBudget(LIMIT_KINDS[name]) && used >= limit);
