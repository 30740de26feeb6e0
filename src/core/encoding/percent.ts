/** Decodes a percent-encoded text (RFC 3986, 2.1); undefined if it is not valid. */
export function decodePercent(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
