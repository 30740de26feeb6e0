/** What a caller allows the response cache to do (RFC 9111, section 5.2.1). */
export interface CacheDirectives {
  /** The greatest age of an answer in seconds; 0: only a new answer. */
  readonly maxAge: number;
  readonly isStorable: boolean;
}

/** Reads `Cache-Control` of a request. Unknown directives are ignored; a `max-age` that is no number allows no age. */
export function parseCacheControl(header: string | null): CacheDirectives {
  let maxAge = Number.POSITIVE_INFINITY;
  let isStorable = true;
  for (const part of (header ?? "").split(",")) {
    const [name = "", value = ""] = part.split("=", 2).map((text) => text.trim().toLowerCase());
    if (name === "no-store") isStorable = false;
    if (name === "no-store" || name === "no-cache") maxAge = 0;
    if (name === "max-age") {
      const seconds = value.replaceAll('"', "");
      maxAge = Math.min(maxAge, /^\d+$/.test(seconds) ? Number(seconds) : 0);
    }
  }
  return { maxAge, isStorable };
}
