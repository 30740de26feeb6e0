import type { Choice } from "../../ui/field.tsx";

/** Lifetimes of a link in days. */
export const LINK_LIFETIMES: readonly Choice[] = [
  ["1", "A day"],
  ["7", "A week"],
  ["30", "30 days"],
  ["365", "A year"],
  ["3650", "Ten years"],
];

/** Returns the query parameters of a path, as the gateway expects them for signing. */
export function parseQuery(path: string): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(path.slice(path.indexOf("?") + 1)));
}
