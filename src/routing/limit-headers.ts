import type { LimitState, WindowState } from "../platform/limits.ts";

/** Tells in headers what is left to a key; `now` in Unix milliseconds. */
export type LimitHeaders = (left: LimitState, now: number) => Readonly<Record<string, string>>;

/** `1m30s`, `1.5s`, `20ms`: how a duration is written in these headers. */
export function duration(ms: number): string {
  if (ms > 0 && ms < 1_000) return `${Math.ceil(ms)}ms`;
  const minutes = Math.floor(ms / 60_000);
  const seconds = Number(((ms % 60_000) / 1_000).toFixed(3));
  return minutes === 0 ? `${seconds}s` : `${minutes}m${seconds}s`;
}

function of(what: string, state: WindowState | null): Record<string, string> {
  if (state === null) return {};
  return {
    [`x-ratelimit-limit-${what}`]: String(state.limit),
    [`x-ratelimit-remaining-${what}`]: String(state.remaining),
    [`x-ratelimit-reset-${what}`]: duration(state.resetMs),
  };
}

/** As the chat-completions style's own service writes them, and where a style has none of its own. */
export const standardLimitHeaders: LimitHeaders = ({ requests, tokens }) => ({
  ...of("requests", requests),
  ...of("tokens", tokens),
});

/** Names of all headers that {@link standardLimitHeaders} may make. */
export const STANDARD_LIMIT_HEADERS: readonly string[] = ["requests", "tokens"].flatMap((what) =>
  ["limit", "remaining", "reset"].map((part) => `x-ratelimit-${part}-${what}`),
);
