/**
 * What the history and the captures keep of a request, from most to least: everything; texts without personal data; no
 * texts; nothing.
 */
export const HISTORY_MODES = ["full", "redacted", "no_texts", "none"] as const;

export type HistoryMode = (typeof HISTORY_MODES)[number];

/** The mode that keeps least; undefined: everything is kept. */
export function selectStrictestMode(
  modes: readonly (HistoryMode | undefined)[],
): Exclude<HistoryMode, "full"> | undefined {
  const strictest = Math.max(0, ...modes.map((mode) => HISTORY_MODES.indexOf(mode ?? "full")));
  const mode = HISTORY_MODES[strictest];
  return mode === "full" ? undefined : mode;
}
