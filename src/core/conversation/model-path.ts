import { isDotSegment } from "../encoding/path-segment.ts";

/** Characters with a special meaning in a URL, and characters that URL parsers remove. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for.
const FORBIDDEN_IN_PATHS = /[\\%?#\u0000-\u001f\u007f]/;

/**
 * Whether a model's name would change the URL path that contains it: `fetch` resolves `.` and `..` even if they are
 * escaped, and servers may unescape other characters.
 */
export function altersUrlPath(name: string): boolean {
  if (FORBIDDEN_IN_PATHS.test(name) || !name.isWellFormed()) return true;
  return name.split("/").some((segment) => segment === "" || isDotSegment(segment));
}

/** Removes the leading `models/` of such paths from a model's name. */
export function stripModelsPrefix(name: string): string {
  return name.replace(/^(?:models\/)+/, "");
}

/** The model name for a request path. Undefined if the name is not possible there. */
export function nameInPath(name: string): string | undefined {
  const modelName = stripModelsPrefix(name);
  return altersUrlPath(modelName) ? undefined : modelName;
}
