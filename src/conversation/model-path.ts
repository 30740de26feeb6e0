import { isDots } from "../encoding/path-segment.ts";

/** Drivers whose protocol has a model's name in the path of its requests, by their ids. */
const IN_PATHS: ReadonlySet<string> = new Set(["content-generation"]);

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

/** What a driver knows a model by that somebody asks for; undefined where that can be no model's name. */
export function nameFor(driver: string, name: string): string | undefined {
  if (!IN_PATHS.has(driver)) return name;
  const bare = withoutCollection(name);
  return changesAddress(bare) ? undefined : bare;
}
