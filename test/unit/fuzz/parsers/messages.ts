/** An HTTP message as a text: what stands on its first line, its headers, and its body. */
export interface MessageText {
  readonly first: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: string;
}

/** Reads `first line`, lines with `name: value`, an empty line, and the body. */
export function messageIn(text: string): MessageText {
  const end = text.indexOf("\n\n");
  const [first = "", ...lines] = text.slice(0, end < 0 ? text.length : end).split("\n");
  const headers = lines.flatMap((line) => {
    const at = line.indexOf(":");
    return at < 1 ? [] : [[line.slice(0, at).trim(), line.slice(at + 1).trim()] as const];
  });
  return { first, headers, body: end < 0 ? "" : text.slice(end + 2) };
}

/** The headers that a runtime would let through; the others are left out. */
export function headersOf({ headers }: MessageText): Headers {
  const made = new Headers();
  for (const [name, value] of headers) {
    try {
      made.append(name, value);
    } catch {
      // No runtime passes it on.
    }
  }
  return made;
}
