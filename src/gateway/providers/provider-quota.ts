import { isObject, type JsonObject } from "../../core/encoding/json.ts";
import type { QuotaWindow } from "../../core/ports/accounts.ts";
import { DAY_MS, HOUR_MS } from "../../core/units.ts";

/** `x-ratelimit-*` (OpenAI, Azure, Groq) and `anthropic-ratelimit-*`: limits of the requested model, by unit. */
const UNITS = ["requests", "tokens", "input-tokens", "output-tokens"] as const;
/** Windows of a Claude subscription, and whether they limit only the requested model. */
const SUBSCRIPTION_WINDOWS = [
  ["5h", false],
  ["7d", false],
  ["7d_oi", true],
] as const;
const CODEX_WINDOWS = ["primary", "secondary"] as const;

/** A duration such as `6m0s`, `1h2m`, `12ms` or `34.5s`: unit → milliseconds. */
const DURATION_UNITS: Readonly<Record<string, number>> = {
  d: DAY_MS,
  h: HOUR_MS,
  m: 60_000,
  s: 1_000,
  ms: 1,
};
const DURATION = /^(?:\d{1,9}(?:\.\d{1,9})?(?:ms|[dhms])){1,6}$/;
const DURATION_PART = /(\d{1,9}(?:\.\d{1,9})?)(ms|[dhms])/g;

/** Hour at which Google's daily quotas reset, UTC: midnight in California, in winter. */
const DAILY_RESET_HOUR = 8;

function readNumber(headers: Headers, name: string): number | null {
  const text = headers.get(name)?.trim() ?? "";
  if (text === "") return null;
  const value = Number(text);
  return Number.isFinite(value) ? value : null;
}

/** Reads a duration such as `6m0s`, or plain seconds, as milliseconds. Null: neither. */
function readDuration(text: string): number | null {
  if (/^\d{1,9}(?:\.\d{1,9})?$/.test(text)) return Number(text) * 1_000;
  if (!DURATION.test(text)) return null;
  let total = 0;
  for (const [, amount, unit = ""] of text.matchAll(DURATION_PART))
    total += Number(amount) * (DURATION_UNITS[unit] ?? 0);
  return total;
}

/** Reads a reset, a duration or a time (RFC 3339), as Unix milliseconds. Null: not stated. */
function readReset(headers: Headers, name: string, now: number): number | null {
  const text = headers.get(name)?.trim() ?? "";
  if (text === "") return null;
  const duration = readDuration(text);
  const at = duration === null ? Date.parse(text) : now + duration;
  return Number.isFinite(at) ? at : null;
}

/** Reads Unix seconds as milliseconds. Null: not stated. */
function readUnixSeconds(headers: Headers, name: string): number | null {
  const seconds = readNumber(headers, name);
  return seconds === null || seconds <= 0 ? null : seconds * 1_000;
}

/** A limit that states how much is left of how much. A limit of 0 or -1 is unknown (Azure). */
function readCounted(
  headers: Headers,
  style: "openai" | "anthropic",
  unit: string,
  now: number,
): QuotaWindow[] {
  const nameOf = (part: string) =>
    style === "openai" ? `x-ratelimit-${part}-${unit}` : `anthropic-ratelimit-${unit}-${part}`;
  const remaining = readNumber(headers, nameOf("remaining"));
  // Most providers state nothing, and each look into the headers costs.
  if (remaining === null || remaining < 0) return [];
  const limit = readNumber(headers, nameOf("limit"));
  const resetsAt = readReset(headers, nameOf("reset"), now);
  if (limit === null || limit <= 0 || resetsAt === null) return [];
  const share = Math.min(1, remaining / limit);
  return [{ name: unit, remaining: share, isExhausted: remaining === 0, resetsAt, isOfModel: true }];
}

function readSubscription(headers: Headers): QuotaWindow[] {
  const prefix = "anthropic-ratelimit-unified-";
  return SUBSCRIPTION_WINDOWS.flatMap(([name, isOfModel]) => {
    const resetsAt = readUnixSeconds(headers, `${prefix}${name}-reset`);
    if (resetsAt === null) return [];
    const used = readNumber(headers, `${prefix}${name}-utilization`);
    // A subscription may go on beyond its window, at extra cost: only a rejection ends it.
    const isExhausted = headers.get(`${prefix}${name}-status`) === "rejected";
    if (used === null && !isExhausted) return [];
    const remaining = isExhausted ? 0 : Math.max(0, 1 - (used ?? 1));
    return [{ name, remaining, isExhausted, resetsAt, isOfModel }];
  });
}

function readCodex(headers: Headers): QuotaWindow[] {
  return CODEX_WINDOWS.flatMap((name) => {
    const used = readNumber(headers, `x-codex-${name}-used-percent`);
    if (used === null) return [];
    const resetsAt = readUnixSeconds(headers, `x-codex-${name}-reset-at`);
    if (resetsAt === null) return [];
    const remaining = Math.max(0, 1 - used / 100);
    return [{ name, remaining, isExhausted: remaining === 0, resetsAt, isOfModel: false }];
  });
}

/**
 * The quotas that a provider states in the headers of an answer, whether it is an error or not. Windows that have passed are left
 * out. `now`: Unix milliseconds.
 */
export function readQuotaWindows(headers: Headers, now: number): readonly QuotaWindow[] {
  return [
    ...UNITS.flatMap((unit) => readCounted(headers, "openai", unit, now)),
    ...UNITS.flatMap((unit) => readCounted(headers, "anthropic", unit, now)),
    ...readSubscription(headers),
    ...readCodex(headers),
  ].filter(({ resetsAt }) => resetsAt > now);
}

/**
 * How long a rejection asks to wait, in seconds, rounded up: `retry-after-ms` and its relatives, `Retry-After`, then what the body
 * states. Null: nothing.
 */
export function readStatedWait(headers: Headers, body: JsonObject, now: number): number | null {
  const milliseconds =
    readNumber(headers, "retry-after-ms") ??
    readNumber(headers, "x-ms-retry-after-ms") ??
    readRetryAfter(headers) ??
    readBodyWait(body, now);
  return milliseconds === null || milliseconds < 0 ? null : Math.ceil(milliseconds / 1_000);
}

/** Reads `Retry-After`, a number of seconds or a date, as milliseconds. Null: absent or unreadable. */
function readRetryAfter(headers: Headers): number | null {
  const text = headers.get("retry-after")?.trim() ?? "";
  const milliseconds = /^\d+(?:\.\d+)?$/.test(text)
    ? Number(text) * 1_000
    : Date.parse(text) - Date.parse(headers.get("date") ?? "");
  return Number.isFinite(milliseconds) && milliseconds >= 0 ? milliseconds : null;
}

/** The wait in milliseconds that an error body states: Codex's `resets_at`, Google's `RetryInfo` and daily quotas. */
function readBodyWait({ error }: JsonObject, now: number): number | null {
  if (!isObject(error)) return null;
  const { type, code, resets_at: resetsAt, resets_in_seconds: resetsIn, details } = error;
  if (type === "usage_limit_reached" || code === "usage_limit_reached") {
    if (typeof resetsAt === "number") return resetsAt * 1_000 - now;
    if (typeof resetsIn === "number") return resetsIn * 1_000;
  }
  const entries = Array.isArray(details) ? details.filter(isObject) : [];
  if (entries.some(isDailyQuota)) return untilDailyReset(now);
  for (const { retryDelay } of entries) {
    const delay = typeof retryDelay === "string" ? readDuration(retryDelay) : null;
    if (delay !== null) return delay;
  }
  return null;
}

/** Whether a detail of Google's names a quota of a day. Its `retryDelay` of some seconds does not end it. */
function isDailyQuota({ violations }: JsonObject): boolean {
  const entries = Array.isArray(violations) ? violations.filter(isObject) : [];
  return entries.some(({ quotaId }) => typeof quotaId === "string" && quotaId.includes("PerDay"));
}

function untilDailyReset(now: number): number {
  const reset = DAILY_RESET_HOUR * HOUR_MS;
  return (reset - (now % DAY_MS) + DAY_MS) % DAY_MS || DAY_MS;
}
