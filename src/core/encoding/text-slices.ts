/** Whether a cut before `at` would split a surrogate pair. */
function splitsSurrogatePair(text: string, at: number): boolean {
  const codeUnit = text.charCodeAt(at - 1);
  return codeUnit >= 0xd800 && codeUnit < 0xdc00;
}

/** The first `limit` characters of a text, one fewer if the cut would split a surrogate pair. */
export function truncateText(text: string, limit: number): string {
  if (text.length <= limit) return text;
  return text.slice(0, limit > 0 && splitsSurrogatePair(text, limit) ? limit - 1 : limit);
}

/** Copies a text: a slice, also one without the spaces around it, keeps the whole text in memory. */
export function copyText(text: string): string {
  return new TextDecoder().decode(new TextEncoder().encode(text));
}

/** Copies a text that was sliced from `whole`, see {@link copyText}. */
export function detachText(text: string, whole: string): string {
  return text.length === whole.length ? text : copyText(text);
}

/**
 * Splits a text into chunks of at most `size` characters (UTF-16 units; at least 2). Never splits a surrogate pair: its
 * halves do not survive storage. An empty text has no chunks.
 */
export function* splitText(text: string, size: number): Generator<string> {
  for (let start = 0; start < text.length; ) {
    const end = start + size;
    const next = end < text.length && splitsSurrogatePair(text, end) ? end - 1 : end;
    yield text.slice(start, next);
    start = next;
  }
}
