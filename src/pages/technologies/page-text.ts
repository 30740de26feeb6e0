/** Bytes at the beginning of a page in which it may say how it is encoded. */
const HEAD_BYTES = 16_384;

/**
 * A page's text: by its byte order mark, else by what the response's `Content-Type` says, else by what the page itself says at its beginning (WHATWG
 * HTML, "determining the character encoding"). One that says nothing is UTF-8 if it can be, else windows-1252. A character that is cut off at the end
 * is left out.
 */
export function pageText(bytes: Uint8Array, contentType: string): string {
  const decoder =
    markedDecoder(bytes) ??
    decoderOf(/charset\s*=\s*["']?([\w:.-]+)/i.exec(contentType)?.[1]) ??
    decoderOf(saidEncoding(bytes));
  if (decoder !== null) return decoder.decode(bytes, { stream: true });
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: false }).decode(bytes, { stream: true });
  } catch {
    return (decoderOf("windows-1252") ?? new TextDecoder()).decode(bytes);
  }
}

function markedDecoder([first, second, third]: Uint8Array): TextDecoder | null {
  if (first === 0xef && second === 0xbb && third === 0xbf) return new TextDecoder();
  if (first === 0xff && second === 0xfe) return decoderOf("utf-16le");
  return first === 0xfe && second === 0xff ? decoderOf("utf-16be") : null;
}

/** Null for an encoding that nobody knows, here or at all. */
function decoderOf(label: string | undefined): TextDecoder | null {
  if (label === undefined) return null;
  try {
    return new TextDecoder(label);
  } catch {
    return null;
  }
}

/** The encoding that a `meta` element or an XML declaration names. */
function saidEncoding(bytes: Uint8Array): string | undefined {
  let head = "";
  for (const byte of bytes.subarray(0, HEAD_BYTES)) head += String.fromCharCode(byte);
  const [said] = head.replace(/<!--[\s\S]*?(?:-->|$)/g, "").split(/<body/i);
  const [, declared] = /^\s*<\?xml[^<>]*?\bencoding\s*=\s*["']([\w:.-]+)/i.exec(said ?? "") ?? [];
  const [, named] = /<meta\b[^<>]*?\bcharset\s*=\s*(?:["']\s*)?([\w:.-]+)/i.exec(said ?? "") ?? [];
  const label = named ?? declared;
  // Whoever could read that it is UTF-16 has shown that it is not.
  return label !== undefined && /^utf-?16/i.test(label) ? "utf-8" : label;
}
