/**
 * Reads `Retry-After` (RFC 9110, section 10.2.3), a number of seconds or a date, as milliseconds from the answer's `Date`.
 * Null: absent or unreadable.
 */
export function readRetryAfter(headers: Headers): number | null {
  const text = headers.get("retry-after")?.trim() ?? "";
  const milliseconds = /^\d+(?:\.\d+)?$/.test(text)
    ? Number(text) * 1_000
    : Date.parse(text) - Date.parse(headers.get("date") ?? "");
  return Number.isFinite(milliseconds) && milliseconds >= 0 ? milliseconds : null;
}
