/** Number of bytes at the beginning of a page in which it may declare its encoding. */
const DECLARATION_BYTES = 16_384;

/**
 * Decodes a page. The encoding comes from the byte order mark, else from the response's `Content-Type`, else from the
 * page's own declaration (WHATWG HTML, "determining the character encoding"). The default is UTF-8 if the bytes are
 * valid UTF-8, else windows-1252. Drops an incomplete character at the end.
 */
export function decodePage(bytes: Uint8Array, contentType: string): string {
  const decoder =
    detectByteOrderMark(bytes) ??
    createDecoder(/charset\s*=\s*["']?([\w:.-]+)/i.exec(contentType)?.[1]) ??
    createDecoder(findDeclaredEncoding(bytes));
  if (decoder !== null) return decoder.decode(bytes, { stream: true });
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: false }).decode(bytes, { stream: true });
  } catch {
    return (createDecoder("windows-1252") ?? new TextDecoder()).decode(bytes);
  }
}

function detectByteOrderMark([first, second, third]: Uint8Array): TextDecoder | null {
  if (first === 0xef && second === 0xbb && third === 0xbf) return new TextDecoder();
  if (first === 0xff && second === 0xfe) return createDecoder("utf-16le");
  return first === 0xfe && second === 0xff ? createDecoder("utf-16be") : null;
}

/** Null for an unknown or unsupported encoding. */
function createDecoder(label: string | undefined): TextDecoder | null {
  if (label === undefined) return null;
  try {
    return new TextDecoder(label);
  } catch {
    return null;
  }
}

/** The encoding declared by a `meta` element or an XML declaration. */
function findDeclaredEncoding(bytes: Uint8Array): string | undefined {
  let head = "";
  for (const byte of bytes.subarray(0, DECLARATION_BYTES)) head += String.fromCharCode(byte);
  const [beforeBody] = head.replace(/<!--[\s\S]*?(?:-->|$)/g, "").split(/<body/i);
  const [, declared] = /^\s*<\?xml[^<>]*?\bencoding\s*=\s*["']([\w:.-]+)/i.exec(beforeBody ?? "") ?? [];
  const [, charset] = /<meta\b[^<>]*?\bcharset\s*=\s*(?:["']\s*)?([\w:.-]+)/i.exec(beforeBody ?? "") ?? [];
  const label = charset ?? declared;
  // The declaration was readable as ASCII, so the page cannot be UTF-16.
  return label !== undefined && /^utf-?16/i.test(label) ? "utf-8" : label;
}
