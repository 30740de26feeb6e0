import { isObject } from "../encoding/json.ts";

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const WORDS = ["true", "false", "null"];
/** What a JSON number consists of, and white space. */
export const NUMERIC = /^[-+.0-9eE\s]*$/;

/** Whether the text is JSON as a whole. Never throws, however deep the text nests. */
export function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/**
 * The trimmed source of a JSON literal, to be copied digit by digit, or undefined if the text is a string to JSON's mind
 * or no JSON at all (contract, Tool calling rules, rule 3). A quoted string counts as plain text.
 */
export function literalSource(text: string): string | undefined {
  const source = text.trim();
  const first = source[0];
  if (first === "{" || first === "[") return isJson(source) ? source : undefined;
  return NUMBER.test(source) || WORDS.includes(source) ? source : undefined;
}

/** Whether a text that begins like this (white space in front removed) may still turn out to be a literal. */
export function mayBeLiteral(text: string): boolean {
  const first = text[0];
  if (first === undefined || first === "{" || first === "[") return true;
  if (first === "-" || (first >= "0" && first <= "9")) return NUMERIC.test(text);
  const word = text.trimEnd();
  return WORDS.some((literal) => literal.startsWith(word));
}

/**
 * The arguments object that a JSON body of an invoke stands for, as source text: the body itself, or what its only member
 * `input`, `parameters` or `arguments` holds, unless the tool has a parameter of that name. Undefined if it is no object.
 */
export function argumentsSource(body: string, declared: ReadonlySet<string>): string | undefined {
  const source = body.trim();
  if (!source.startsWith("{") || !isJson(source)) return undefined;
  const parsed: unknown = JSON.parse(source);
  if (!isObject(parsed)) return undefined;
  const [only, ...others] = Object.entries(parsed);
  if (!only || others.length > 0) return source;
  const [name, value] = only;
  if (!isObject(value) || !/^(?:input|parameters|arguments)$/.test(name) || declared.has(name)) return source;
  const head = /^\{\s*"[a-z]+"\s*:/.exec(source)?.[0];
  const inner = head === undefined ? "" : source.slice(head.length, -1).trim();
  return isJson(inner) ? inner : source;
}
