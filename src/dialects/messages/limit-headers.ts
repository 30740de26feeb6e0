import type { WindowState } from "../../platform/limits.ts";
import type { LimitHeaders } from "../../routing/limit-headers.ts";

const PREFIX = "anthropic-ratelimit";

function of(what: string, state: WindowState | null, now: number): Record<string, string> {
  if (state === null) return {};
  return {
    [`${PREFIX}-${what}-limit`]: String(state.limit),
    [`${PREFIX}-${what}-remaining`]: String(state.remaining),
    [`${PREFIX}-${what}-reset`]: new Date(now + state.resetMs).toISOString().replace(/\.\d+Z$/, "Z"),
  };
}

/** Builds the rate limit headers that SDKs of the style read. */
export const messageLimitHeaders: LimitHeaders = ({ requests, tokens }, now) => ({
  ...of("requests", requests, now),
  ...of("tokens", tokens, now),
});

/** Names of all headers that {@link messageLimitHeaders} may return. */
export const MESSAGE_LIMIT_HEADERS: readonly string[] = ["requests", "tokens"].flatMap((what) =>
  ["limit", "remaining", "reset"].map((part) => `${PREFIX}-${what}-${part}`),
);
