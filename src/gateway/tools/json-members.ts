import { isJson } from "./literals.ts";

const SPACE = /[ \t\n\r]/;

/** The index after the JSON string that begins at `at`. */
function skipString(source: string, at: number): number {
  let index = at + 1;
  while (source[index] !== '"') index += source[index] === "\\" ? 2 : 1;
  return index + 1;
}

/** The index of the comma or bracket that ends the JSON value at `at`. */
function skipValue(source: string, at: number): number {
  let depth = 0;
  let index = at;
  for (;;) {
    const char = source[index];
    if (char === '"') {
      index = skipString(source, index);
      continue;
    }
    if (depth === 0 && (char === "," || char === "}")) return index;
    if (char === "{" || char === "[") depth++;
    else if (char === "}" || char === "]") depth--;
    index++;
  }
}

function skipSpace(source: string, at: number): number {
  let index = at;
  while (SPACE.test(source[index] ?? "")) index++;
  return index;
}

/**
 * The members of a JSON object as source text, so that numbers keep their digits. Of members with the same name the last
 * counts. Undefined if `text` is not a JSON object. Never throws, however deep the text nests.
 */
export function splitMembers(text: string): ReadonlyMap<string, string> | undefined {
  const source = text.trim();
  if (!source.startsWith("{") || !isJson(source)) return undefined;
  const members = new Map<string, string>();
  let index = skipSpace(source, 1);
  while (source[index] === '"') {
    const nameEnd = skipString(source, index);
    const name: unknown = JSON.parse(source.slice(index, nameEnd));
    const start = skipSpace(source, skipSpace(source, nameEnd) + 1);
    const end = skipValue(source, start);
    members.set(String(name), source.slice(start, end).trim());
    index = skipSpace(source, end + 1);
  }
  return members;
}
