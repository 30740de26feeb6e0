import { isDots } from "../encoding/path-segment.ts";

/** What means something in an address, or is taken out of it. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for.
const NO_PART_OF_NAMES = /[\\%?#\u0000-\u001f\u007f]/;

/**
 * Whether a model's name would make another address of that which it is put into: `fetch` resolves `.` and `..` even where they
 * are escaped, and servers may unescape what was.
 */
export function changesAddress(name: string): boolean {
  if (NO_PART_OF_NAMES.test(name) || !name.isWellFormed()) return true;
  return name.split("/").some((segment) => segment === "" || isDots(segment));
}

/** A name without what stands before each model's name in such paths: what is left is the same model's. */
export function withoutCollection(name: string): string {
  return name.replace(/^(?:models\/)+/, "");
}

/** A requested model's name for the path of a request; undefined where it cannot be a model's name. */
export function nameInPath(name: string): string | undefined {
  const bare = withoutCollection(name);
  return changesAddress(bare) ? undefined : bare;
}
