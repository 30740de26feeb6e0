import * as z from "zod";
import { LIMIT_KINDS, mapLimits } from "../../../core/config/limit-kinds.ts";
import type { Platform } from "../../../core/ports/platform.ts";
import { getUsedAmount, NO_USE, type SubjectUsage } from "../../../core/ports/subject-limits.ts";
import { fromNano } from "../../../records/usage/prices.ts";

/**
 * What counts towards the limits of a key, a team, a user, a tag or a provider now.
 * Costs are in the currency of the prices.
 */
export const usedSchema = () => {
  const { max_parallel: parallel, ...others } = mapLimits((name) =>
    LIMIT_KINDS[name].unit === "cost" ? z.number() : z.int(),
  );
  return z.object({ parallel, ...others });
};
export type UsedView = z.output<ReturnType<typeof usedSchema>>;

/** The use of a subject; undefined: it has no limits, or nothing is used of them. */
export function usedView(use: SubjectUsage | undefined): UsedView {
  const { max_parallel: parallel, ...others } = mapLimits((name) => {
    const kind = LIMIT_KINDS[name];
    const used = getUsedAmount(use ?? NO_USE, kind);
    return kind.unit === "cost" ? fromNano(used) : used;
  });
  return { parallel, ...others };
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
