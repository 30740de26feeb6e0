import { isObject, type JsonObject } from "../../../core/encoding/json.ts";
import { readRetryAfter } from "../../../core/http/retry-after.ts";
import type { QuotaWindow } from "../../../core/ports/accounts.ts";
import { DAY_MS, HOUR_MS } from "../../../core/units.ts";

/** The names of the headers that state a limit of requests or tokens. */
interface CountedLimit {
  readonly unit: string;
  readonly limit: string;
  readonly remaining: string;
  readonly reset: string;
}

/** `x-ratelimit-*` (OpenAI, Azure, Groq) and `anthropic-ratelimit-*`: limits of the requested model. */
const COUNTED_LIMITS: readonly CountedLimit[] = [
  "requests",
  "tokens",
  "input-tokens",
  "output-tokens",
].flatMap((unit) =>
  [
    (part: string) => `x-ratelimit-${part}-${unit}`,
    (part: string) => `anthropic-ratelimit-${unit}-${part}`,
  ].map((nameOf) => ({
    unit,
    limit: nameOf("limit"),
    remaining: nameOf("remaining"),
    reset: nameOf("reset"),
  })),
);

/** The names of the headers that state how much of a window is used, and when it ends, in Unix seconds. */
interface UsedWindow {
  readonly name: string;
  readonly used: string;
  readonly reset: string;
}

/** Windows of a Claude subscription. `isOfModel`: it limits only the requested model. */
const SUBSCRIPTION_WINDOWS: readonly (UsedWindow & {
  readonly status: string;
  readonly isOfModel: boolean;
})[] = [
  { name: "5h", isOfModel: false },
  { name: "7d", isOfModel: false },
  { name: "7d_oi", isOfModel: true },
].map(({ name, isOfModel }) => {
  const prefix = `anthropic-ratelimit-unified-${name}`;
  return {
    name,
    used: `${prefix}-utilization`,
    reset: `${prefix}-reset`,
    status: `${prefix}-status`,
    isOfModel,
  };
});

const CODEX_WINDOWS: readonly UsedWindow[] = ["primary", "secondary"].map((name) => ({
  name,
  used: `x-codex-${name}-used-percent`,
  reset: `x-codex-${name}-reset-at`,
}));

/** A later reset is a mistake, such as milliseconds where seconds are expected. */
const LATEST_RESET_MS = 366 * DAY_MS;

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

const toShare = (value: number): number => Math.min(1, Math.max(0, value));

/** A limit that states how much is left of how much. A limit of 0 or -1 is unknown (Azure). Null: not stated. */
function readCounted(headers: Headers, stated: CountedLimit, now: number): QuotaWindow | null {
  const remaining = readNumber(headers, stated.remaining);
  const limit = readNumber(headers, stated.limit);
  const resetsAt = readReset(headers, stated.reset, now);
  if (remaining === null || remaining < 0 || limit === null || limit <= 0 || resetsAt === null) return null;
  const share = toShare(remaining / limit);
  return {
    name: stated.unit,
    remaining: share,
    isExhausted: remaining === 0,
    resetsAt,
    isOfModel: true,
  };
}

function readSubscription(
  headers: Headers,
  { name, used: usedName, reset, status, isOfModel }: (typeof SUBSCRIPTION_WINDOWS)[number],
): QuotaWindow | null {
  const resetsAt = readUnixSeconds(headers, reset);
  const used = readNumber(headers, usedName);
  // A subscription may go on beyond its window, at extra cost: only a rejection ends it.
  const isExhausted = headers.get(status) === "rejected";
  if (resetsAt === null || (used === null && !isExhausted)) return null;
  const remaining = isExhausted ? 0 : toShare(1 - (used ?? 1));
  return { name, remaining, isExhausted, resetsAt, isOfModel };
}

function readCodex(headers: Headers, { name, used: usedName, reset }: UsedWindow): QuotaWindow | null {
  const used = readNumber(headers, usedName);
  const resetsAt = readUnixSeconds(headers, reset);
  if (used === null || resetsAt === null) return null;
  const remaining = toShare(1 - used / 100);
  return { name, remaining, isExhausted: remaining === 0, resetsAt, isOfModel: false };
}

/**
 * The quotas that a provider states in the headers of an answer, whether it is an error or not. Windows that have
 * passed, or that reset in more than a year, are left out. `now`: Unix milliseconds.
 */
export function readQuotaWindows(headers: Headers, now: number): readonly QuotaWindow[] {
  const windows: QuotaWindow[] = [];
  const add = (window: QuotaWindow | null) => {
    if (window === null || window.resetsAt <= now || window.resetsAt > now + LATEST_RESET_MS) return;
    windows.push(window);
  };
  // Most answers state nothing, and `has` creates no text.
  for (const stated of COUNTED_LIMITS) {
    if (headers.has(stated.remaining)) add(readCounted(headers, stated, now));
  }
  for (const stated of SUBSCRIPTION_WINDOWS) {
    if (headers.has(stated.reset)) add(readSubscription(headers, stated));
  }
  for (const stated of CODEX_WINDOWS) if (headers.has(stated.used)) add(readCodex(headers, stated));
  return windows;
}

/**
 * How long a rejection asks to wait, in seconds, rounded up: `retry-after-ms` and its relatives, `Retry-After`, then
 * what the body states. Null: nothing.
 */
export function readStatedWait(headers: Headers, body: JsonObject, now: number): number | null {
  const milliseconds =
    readNumber(headers, "retry-after-ms") ??
    readNumber(headers, "x-ms-retry-after-ms") ??
    readRetryAfter(headers) ??
    readBodyWait(body, now);
  return milliseconds === null || milliseconds < 0 ? null : Math.ceil(milliseconds / 1_000);
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
