import type { HistoryMode } from "../../core/config/history-mode.ts";
import { redactText } from "../../core/encoding/redaction.ts";
import { detachText, truncateText } from "../../core/encoding/text-slices.ts";

/** Most characters of a text of a record when the queue for the archive is too long. */
export const MAX_SHORT = 2_000;
/** Most characters of a name or a message in a record. */
export const MAX_LABEL = 300;
const PREVIEW = 200;
/** How much of a name is searched for personal data: a part of an address may not be recognised. */
const MAX_REDACTED = 2_000;

/** Returns the part of a text that the history mode allows to store. Absent mode: all of it. */
export function redactForHistory(text: string, mode: HistoryMode | undefined): string {
  if (mode === undefined) return text;
  return mode === "redacted" ? redactText(text) : "";
}

/** What may be stored of a text, at most `max` characters. */
export function limitForHistory(text: string, mode: HistoryMode | undefined, max: number): string {
  // Redacts the whole text first: a part of an address may not be recognised.
  const stored = redactForHistory(text, mode);
  return detachText(truncateText(stored, max), stored);
}

/**
 * What may be stored of a name that a caller or a provider can choose, such as that of a model. Requests are found and
 * counted by names, so they stay where no texts are kept.
 */
export function redactName(name: string, mode: HistoryMode | undefined): string {
  return mode === undefined ? name : redactText(name.slice(0, MAX_REDACTED));
}

/** The beginning of a text, with a note of how much is missing. */
export function shortenText(text: string): string {
  const stored = detachText(truncateText(text, MAX_SHORT), text);
  const missing = text.length - stored.length;
  return missing === 0 ? stored : `${stored}… [${missing} characters left out]`;
}

/** White space that a preview replaces: all but single spaces. */
const LONG_SPACE = /[^\S ]\s*| \s+/g;

/** Shortens a text to one line. */
export function createPreview(text: string): string {
  return truncateText(
    text
      .slice(0, PREVIEW * 4)
      .replace(LONG_SPACE, " ")
      .trim(),
    PREVIEW,
  );
}
