/** Bytes converted to characters in one call. More would exceed the limit on the number of arguments. */
const SLICE = 0x8000;

/** Encodes bytes as base64 (RFC 4648, section 4). */
export function toBase64(bytes: Uint8Array): string {
  let binary = "";
  for (let at = 0; at < bytes.length; at += SLICE) {
    binary += String.fromCharCode(...bytes.subarray(at, at + SLICE));
  }
  return btoa(binary);
}

/** Encodes a text's UTF-8 bytes as base64. */
export function textToBase64(text: string): string {
  return toBase64(new TextEncoder().encode(text));
}

/**
 * Decodes base64. White space is skipped and padding may be missing.
 *
 * @throws DOMException or SyntaxError for characters outside the alphabet
 */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  // The native function needs half the memory: the fallback first creates a text of the bytes.
  if (typeof Uint8Array.fromBase64 === "function") return Uint8Array.fromBase64(text);
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let index = 0; index < binary.length; index += 1) bytes[index] = binary.charCodeAt(index);
  return bytes;
}

/** Encodes bytes as base64url without padding (RFC 4648, section 5). */
export function toBase64Url(bytes: Uint8Array): string {
  return toBase64(bytes).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** Decodes base64url. Throws as {@link fromBase64} does. */
export function fromBase64Url(text: string): Uint8Array<ArrayBuffer> {
  return fromBase64(text.replaceAll("-", "+").replaceAll("_", "/"));
}

/** Encodes bytes in hexadecimal, lower case. */
export function toHex(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += byte.toString(16).padStart(2, "0");
  return text;
}

/** Encodes a text as UTF-8 in its own buffer. */
export function toUtf8(text: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(new TextEncoder().encode(text));
}

/** Concatenates byte arrays. */
export function concatBytes(arrays: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const result = new Uint8Array(arrays.reduce((size, { length }) => size + length, 0));
  let offset = 0;
  for (const array of arrays) {
    result.set(array, offset);
    offset += array.length;
  }
  return result;
}
