import type { ApiKey } from "../../api/config.ts";
import type { Tone } from "../../ui/badge.tsx";
import { duration } from "../../ui/format.ts";

/** Keys that expire within this time get a warning. */
const SOON_MS = 7 * 86_400_000;

/** Describes whether a key works. `now` is in Unix milliseconds. */
export function stateOf(
  { disabled, expires, grace_until }: Pick<ApiKey, "disabled" | "expires" | "grace_until">,
  now: number,
): { readonly tone: Tone; readonly text: string } {
  if (disabled) return { tone: "neutral", text: "disabled" };
  if (expires !== 0 && expires <= now) return { tone: "bad", text: "expired" };
  if (expires !== 0 && expires - now < SOON_MS) {
    return { tone: "warn", text: `expires in ${duration(expires - now)}` };
  }
  if (grace_until > now)
    return { tone: "live", text: `rotated; the old one works ${duration(grace_until - now)} more` };
  return { tone: "good", text: "works" };
}

/** Converts Unix milliseconds to the value of a `datetime-local` input; 0 becomes empty. */
export function toLocal(at: number): string {
  if (at === 0) return "";
  const date = new Date(at);
  return new Date(at - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/** Converts the value of a `datetime-local` input to Unix milliseconds; empty becomes 0. */
export function fromLocal(text: string): number {
  const at = text === "" ? 0 : new Date(text).getTime();
  return Number.isNaN(at) ? 0 : at;
}
