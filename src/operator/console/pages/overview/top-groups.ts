import type { UsageItem } from "../../api/usage.ts";

/** The orders of the lists. */
export const TOP_ORDERS = ["requests", "cost", "errors"] as const;
export type TopOrder = (typeof TOP_ORDERS)[number];

/** Most groups of a list. */
const MAX_GROUPS = 5;

const amount = ({ requests, cost, failed, refused }: UsageItem, order: TopOrder): number =>
  order === "requests" ? requests : order === "cost" ? cost : failed + refused;

/** The groups with the largest amounts, the largest first. Groups without any are left out. */
export function selectTop(items: readonly UsageItem[], order: TopOrder): UsageItem[] {
  return items
    .filter((item) => amount(item, order) > 0)
    .sort((a, b) => amount(b, order) - amount(a, order))
    .slice(0, MAX_GROUPS);
}
