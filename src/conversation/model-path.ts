import { isDots } from "../encoding/path-segment.ts";

/** Ids of the drivers whose protocol puts the model's name into the request path. */
const IN_PATHS: ReadonlySet<string> = new Set(["content-generation"]);

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

/** The name of a requested model in a driver's protocol. Undefined if the name is not possible there. */
export function nameFor(driver: string, name: string): string | undefined {
  if (!IN_PATHS.has(driver)) return name;
  const bare = withoutCollection(name);
  return changesAddress(bare) ? undefined : bare;
}
