import { isObject } from "../../core/encoding/json.ts";

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const WORDS = ["true", "false", "null"];
/** The characters of a JSON number, and white space. */
export const NUMBER_CHARACTERS = /^[-+.0-9eE\s]*$/;

/** Whether the whole text is JSON. Never throws, however deep the text nests. */
export function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/**
 * The trimmed source of a JSON value, which keeps its digits. Undefined if the text is not JSON, or is a JSON string: a
 * quoted string counts as plain text (docs/contract.md, tool rule 3).
 */
export function parseLiteral(text: string): string | undefined {
  const source = text.trim();
  const first = source[0];
  if (first === "{" || first === "[") return isJson(source) ? source : undefined;
  return NUMBER.test(source) || WORDS.includes(source) ? source : undefined;
}

/** Whether a text with this beginning (leading white space removed) may still become a literal. */
export function mayBeLiteral(text: string): boolean {
  const first = text[0];
  if (first === undefined || first === "{" || first === "[") return true;
  if (first === "-" || (first >= "0" && first <= "9")) return NUMBER_CHARACTERS.test(text);
  const start = text.trimEnd();
  return WORDS.some((literal) => literal.startsWith(start));
}

/**
 * The arguments object of an invoke's JSON body, as source text: the body itself, or the value of its only member `input`,
 * `parameters` or `arguments`, unless the tool has a parameter of that name. Undefined if it is not an object.
 */
export function parseArguments(body: string, declaredNames: ReadonlySet<string>): string | undefined {
  const source = body.trim();
  if (!source.startsWith("{") || !isJson(source)) return undefined;
  const parsed: unknown = JSON.parse(source);
  if (!isObject(parsed)) return undefined;
  const [firstEntry, ...otherEntries] = Object.entries(parsed);
  if (!firstEntry || otherEntries.length > 0) return source;
  const [name, value] = firstEntry;
  if (!isObject(value) || !/^(?:input|parameters|arguments)$/.test(name) || declaredNames.has(name))
    return source;
  const head = /^\{\s*"[a-z]+"\s*:/.exec(source)?.[0];
  const content = head === undefined ? "" : source.slice(head.length, -1).trim();
  return isJson(content) ? content : source;
}
