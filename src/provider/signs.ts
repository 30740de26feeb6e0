/** How the base64 of a kind of file begins: strict backends refuse a file that is not what it is called. */
const SIGNS: readonly (readonly [prefix: string, mediaType: string])[] = [
  ["iVBORw0KGgo", "image/png"],
  ["/9j/", "image/jpeg"],
  ["R0lGOD", "image/gif"],
  ["JVBERi", "application/pdf"],
];

/** What a file is, by how its base64 begins; undefined: nothing that is known. */
export function mediaTypeIn(base64: string): string | undefined {
  // Sound and film may be in the same container.
  if (base64.startsWith("UklGR")) return base64.startsWith("XRUJQ", 11) ? "image/webp" : undefined;
  return SIGNS.find(([prefix]) => base64.startsWith(prefix))?.[1];
}
