import { DAY_MS } from "../../../../core/units.ts";
import type { ApiKey } from "../../api/keys.ts";
import { isBudgetUsedUp } from "../../shared/limit-use.ts";
import type { Tone } from "../../ui/badge.tsx";
import { formatDuration } from "../../ui/format.ts";
import { texts } from "./texts.ts";

/** Keys that expire within this time get a warning. */
const EXPIRY_WARNING_MS = 7 * DAY_MS;

/** Describes whether a key works. `now` is in Unix milliseconds. */
export function describeKeyState(
  {
    disabled,
    expires,
    grace_until,
    ...limited
  }: Pick<ApiKey, "disabled" | "expires" | "grace_until" | "limits" | "used">,
  now: number,
): { readonly tone: Tone; readonly text: string } {
  if (disabled) return { tone: "neutral", text: texts.disabled };
  if (expires !== 0 && expires <= now) return { tone: "bad", text: texts.expired };
  if (isBudgetUsedUp(limited)) return { tone: "warn", text: texts.limitReached };
  if (expires !== 0 && expires - now < EXPIRY_WARNING_MS) {
    return { tone: "warn", text: texts.expiresIn(formatDuration(expires - now)) };
  }
  if (grace_until > now)
    return { tone: "live", text: texts.rotatedOldKeyExpiresIn(formatDuration(grace_until - now)) };
  return { tone: "good", text: texts.active };
}

/** Converts Unix milliseconds to the value of a `datetime-local` input; 0 becomes empty. */
export function toLocalInput(at: number): string {
  if (at === 0) return "";
  const date = new Date(at);
  return new Date(at - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/** Converts the value of a `datetime-local` input to Unix milliseconds; empty becomes 0. */
export function fromLocalInput(text: string): number {
  const time = text === "" ? 0 : new Date(text).getTime();
  return Number.isNaN(time) ? 0 : time;
}
