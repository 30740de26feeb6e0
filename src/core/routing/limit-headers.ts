import type { RateWindowState, RemainingLimits } from "../ports/subject-limits.ts";

/** Formats a key's remaining limits as headers; `now` in Unix milliseconds. */
export type LimitHeaders = (limits: RemainingLimits, now: number) => Readonly<Record<string, string>>;

/** Formats a duration for these headers: `1m30s`, `1.5s`, `20ms`. */
export function formatDuration(ms: number): string {
  if (ms > 0 && ms < 1_000) return `${Math.ceil(ms)}ms`;
  const minutes = Math.floor(ms / 60_000);
  const seconds = Number(((ms % 60_000) / 1_000).toFixed(3));
  return minutes === 0 ? `${seconds}s` : `${minutes}m${seconds}s`;
}

function formatWindow(name: string, state: RateWindowState | null): Record<string, string> {
  if (state === null) return {};
  return {
    [`x-ratelimit-limit-${name}`]: String(state.limit),
    [`x-ratelimit-remaining-${name}`]: String(state.remaining),
    [`x-ratelimit-reset-${name}`]: formatDuration(state.resetMs),
  };
}

/** The headers of the chat-completions style's own service. Also used for styles without headers of their own. */
export const formatStandardLimitHeaders: LimitHeaders = ({ requests, tokens }) => ({
  ...formatWindow("requests", requests),
  ...formatWindow("tokens", tokens),
});
