import type { Choice } from "../../ui/forms/field.tsx";
import { words } from "../../ui/words.ts";
import { texts } from "./texts.ts";

/** Lifetimes of a link in days. */
export const LINK_LIFETIMES: readonly Choice[] = [
  ["1", texts.day],
  ["7", texts.week],
  ["30", words.days30],
  ["365", texts.year],
  ["3650", texts.tenYears],
];

/** Returns the query parameters of a path, as the gateway expects them for signing. */
export function parseQuery(path: string): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(path.slice(path.indexOf("?") + 1)));
}
