import { isDots } from "../encoding/path-segment.ts";

/** Characters with a special meaning in a URL, and characters that URL parsers remove. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for.
const NO_PART_OF_NAMES = /[\\%?#\u0000-\u001f\u007f]/;

/**
 * Whether a model's name would change the URL path that contains it: `fetch` resolves `.` and `..` even if they are
 * escaped, and servers may unescape other characters.
 */
export function changesAddress(name: string): boolean {
  if (NO_PART_OF_NAMES.test(name) || !name.isWellFormed()) return true;
  return name.split("/").some((segment) => segment === "" || isDots(segment));
}

/** Removes the leading `models/` of such paths from a model's name. */
export function withoutCollection(name: string): string {
  return name.replace(/^(?:models\/)+/, "");
}

/** The model name for a request path. Undefined if the name is not possible there. */
export function nameInPath(name: string): string | undefined {
  const bare = withoutCollection(name);
  return changesAddress(bare) ? undefined : bare;
}
