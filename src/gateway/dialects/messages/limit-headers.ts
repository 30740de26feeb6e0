import type { RateWindowState } from "../../../core/ports/subject-limits.ts";
import type { LimitHeaders } from "../../../core/routing/limit-headers.ts";

const PREFIX = "anthropic-ratelimit";

function toLimitHeaders(
  limitName: string,
  state: RateWindowState | null,
  now: number,
): Record<string, string> {
  if (state === null) return {};
  return {
    [`${PREFIX}-${limitName}-limit`]: String(state.limit),
    [`${PREFIX}-${limitName}-remaining`]: String(state.remaining),
    [`${PREFIX}-${limitName}-reset`]: new Date(now + state.resetMs).toISOString().replace(/\.\d+Z$/, "Z"),
  };
}

/** Builds the rate limit headers that SDKs of the style read. */
export const toMessageLimitHeaders: LimitHeaders = ({ requests, tokens }, now) => ({
  ...toLimitHeaders("requests", requests, now),
  ...toLimitHeaders("tokens", tokens, now),
});
