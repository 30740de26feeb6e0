/**
 * The first base64 characters of some file types. Strict backends refuse a file whose content differs from its media
 * type.
 */
const SIGNS: readonly (readonly [prefix: string, mediaType: string])[] = [
  ["iVBORw0KGgo", "image/png"],
  ["/9j/", "image/jpeg"],
  ["R0lGOD", "image/gif"],
  ["JVBERi", "application/pdf"],
];

/** Detects the media type of a file from the start of its base64. Undefined: unknown. */
export function sniffMediaType(base64: string): string | undefined {
  // RIFF containers may also hold audio or video.
  if (base64.startsWith("UklGR")) return base64.startsWith("XRUJQ", 11) ? "image/webp" : undefined;
  return SIGNS.find(([prefix]) => base64.startsWith(prefix))?.[1];
}
