import type { UsageItem } from "../../api/usage.ts";

/** The orders of the lists. */
export const TOP_ORDERS = ["requests", "cost", "errors"] as const;
export type TopOrder = (typeof TOP_ORDERS)[number];
/** The dimensions of the lists. */
export const TOP_DIMENSIONS = ["model", "key", "provider"] as const;
export type TopDimension = (typeof TOP_DIMENSIONS)[number];

/** Most groups of a list. */
const MAX_GROUPS = 5;

/** The errors of a group. Of a provider only those that it is to blame for. */
export const countErrors = ({ failed, refused, provider_errors }: UsageItem, by: TopDimension): number =>
  by === "provider" ? provider_errors : failed + refused;

const amount = (item: UsageItem, by: TopDimension, order: TopOrder): number =>
  order === "errors" ? countErrors(item, by) : item[order];

/**
 * The groups with the largest amounts, the largest first.
 * Groups without any are left out, and requests without a provider.
 */
export function selectTop(items: readonly UsageItem[], by: TopDimension, order: TopOrder): UsageItem[] {
  return items
    .filter((item) => amount(item, by, order) > 0 && !(by === "provider" && item.provider === ""))
    .sort((a, b) => amount(b, by, order) - amount(a, by, order))
    .slice(0, MAX_GROUPS);
}
