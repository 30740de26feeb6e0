/** A parsed `data:` URL (RFC 2397). `data` is still encoded. */
export interface DataUrl {
  /** In lower case and without parameters; empty when the URL names none. */
  readonly mediaType: string;
  /** Whether `data` is base64 rather than percent-encoded. */
  readonly base64: boolean;
  readonly data: string;
}

/** Parses a `data:` URL; null for any other text. */
export function parseDataUrl(text: string): DataUrl | null {
  const head = /^data:([^,]*),/i.exec(text);
  if (head === null) return null;
  const [all, header = ""] = head;
  return {
    mediaType: header.split(";", 1)[0]?.trim().toLowerCase() ?? "",
    base64: /;\s*base64\s*$/i.test(header),
    data: text.slice(all.length),
  };
}
