import type { Choice } from "../../ui/field.tsx";

/** For how many days a link may hold. */
export const LIVES: readonly Choice[] = [
  ["1", "A day"],
  ["7", "A week"],
  ["30", "30 days"],
  ["365", "A year"],
  ["3650", "Ten years"],
];

/** The parameters of a path with a query, as the gateway takes them to sign a link. */
export function queryOf(path: string): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(path.slice(path.indexOf("?") + 1)));
}
