import * as z from "zod";
import type { LimitName } from "../../../core/config/limit-kinds.ts";
import type { Platform } from "../../../core/ports/platform.ts";
import type { SubjectUsage } from "../../../core/ports/subject-limits.ts";
import { fromNano } from "../../../records/usage/prices.ts";

/** What counts towards the limits of a key, a team, a user, a tag or a provider now. Costs are in the currency of the prices. */
export const usedSchema = () =>
  z.object({
    parallel: z.int(),
    requests_per_minute: z.int(),
    tokens_per_minute: z.int(),
    tokens_per_day: z.int(),
    tokens_per_month: z.int(),
    cost_per_day: z.number(),
    cost_per_month: z.number(),
  } satisfies Record<Exclude<LimitName, "max_parallel"> | "parallel", z.ZodType>);
export type UsedView = z.output<ReturnType<typeof usedSchema>>;

/** The use of a subject; undefined: it has no limits, or nothing is used of them. */
export function usedView(use: SubjectUsage | undefined): UsedView {
  return {
    parallel: use?.parallel ?? 0,
    requests_per_minute: use?.minute.requests ?? 0,
    tokens_per_minute: use?.minute.tokens ?? 0,
    tokens_per_day: use?.day.tokens ?? 0,
    tokens_per_month: use?.month.tokens ?? 0,
    cost_per_day: fromNano(use?.day.cost ?? 0),
    cost_per_month: fromNano(use?.month.cost ?? 0),
  };
}

/**
 * Reads the use of limits, by the name of its subject: of all subjects, or of `subject` alone. The pool is asked only if one
 * of the entries has limits.
 */
export async function readLimitUse(
  { accounts }: Platform,
  entries: readonly { readonly limits?: object | undefined }[],
  subject?: string,
): Promise<ReadonlyMap<string, SubjectUsage>> {
  const hasLimits = entries.some(({ limits = {} }) => Object.keys(limits).length > 0);
  const uses = hasLimits ? await accounts.listSubjectUsage(subject) : [];
  return new Map(uses.map((use) => [use.key, use]));
}
