import { isDroppable, isMemberName } from "../config/drop-params.ts";
import { isObject } from "../encoding/json.ts";
import { withoutTrailingSlashes } from "../encoding/path-segment.ts";
import { decodePercent } from "../encoding/percent.ts";
import { FIELD_NAME, FIELD_VALUE } from "../http/field-syntax.ts";
import { parsePrivateHosts } from "../url-safety/index.ts";

/** The maximum delay of a timer: a longer one would fire at once. */
const MAX_TIMER_MS = 2_147_483_647;
const TRUE_WORDS = ["true", "1", "yes", "on"];
const FALSE_WORDS = ["false", "0", "no", "off"];

/** Why a variable is invalid: the rest of a sentence that starts with the variable's name. */
export class VariableFault {
  readonly problem: string;

  constructor(problem: string) {
    this.problem = problem;
  }
}

/**
 * Parses the text of a variable. It is no zod schema because every new isolate parses all variables before its first
 * request.
 */
export type VariableParser<T> = (text: string) => T | VariableFault;

/**
 * Creates the parser of one kind of variable.
 *
 * @param description what the value must be, for the error message
 * @param parse returns `undefined` for an invalid text
 * @param mayQuote whether the error may quote the text; false if the text may contain a secret
 */
function createParser<T>(
  description: string,
  parse: (text: string) => T | undefined,
  mayQuote = true,
): VariableParser<T> {
  return (text) =>
    parse(text) ??
    new VariableFault(
      mayQuote ? `is ${quoteShortened(text)}: it must be ${description}` : `must be ${description}`,
    );
}

function quoteShortened(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text);
}

/** A whole number from 1 to `max`. */
export function positiveInteger(max = Number.MAX_SAFE_INTEGER) {
  const range = max === Number.MAX_SAFE_INTEGER ? "above 0" : `from 1 to ${max}`;
  return createParser(`a whole number ${range}`, (text) => {
    const value = Number(text);
    return Number.isInteger(value) && value > 0 && value <= max ? value : undefined;
  });
}

/** A duration in milliseconds, at most `max`. */
export const milliseconds = (max = MAX_TIMER_MS) => positiveInteger(max);

/** `true` or `false`, or another common pair of words. */
export const booleanFlag = createParser("true or false", (text) => {
  const word = text.toLowerCase();
  if (TRUE_WORDS.includes(word)) return true;
  return FALSE_WORDS.includes(word) ? false : undefined;
});

/** One of the given words, or an alias. An alias is returned unchanged; the error message does not list aliases. */
export function oneOf<T extends string>(words: readonly T[], aliases: readonly T[] = []) {
  return createParser(`one of ${words.join(", ")}`, (text) =>
    [...words, ...aliases].find((word) => word === text),
  );
}

/** An http or https address. It may hold a password. */
export const httpUrl = createParser("an http or https address", parseHttpAddress, false);

/** An http or https address to which paths are added: trailing slashes are removed. */
export const baseUrl = createParser(
  "an http or https address",
  (text) => {
    const address = parseHttpAddress(text);
    return address === undefined ? undefined : withoutTrailingSlashes(address);
  },
  false,
);

/** An http or https address, or null for `off`. */
export const httpUrlOrOff: VariableParser<string | null> = (text) =>
  text === "off"
    ? null
    : (parseHttpAddress(text) ?? new VariableFault('must be an http or https address, or "off"'));

function parseHttpAddress(text: string): string | undefined {
  return /^https?:$/.test(URL.parse(text)?.protocol ?? "") ? text : undefined;
}

/** The name of an HTTP header. */
export const headerName = createParser("the name of an HTTP header", (text) =>
  FIELD_NAME.test(text) ? text : undefined,
);

/** A JSON object whose values are non-empty texts. */
export const textMap = createParser(
  'a JSON object of texts, such as {"name":"value"}',
  (text) => {
    const members = parseMembers(text)?.map(([name, value]): [string, string] => [
      name,
      typeof value === "string" ? value.trim() : "",
    ]);
    return members?.every(([, value]) => value !== "") ? Object.fromEntries(members) : undefined;
  },
  false,
);

/** The members of a JSON object; undefined if the text is not a JSON object. */
function parseMembers(text: string): [string, unknown][] | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? Object.entries(value) : undefined;
  } catch {
    return undefined;
  }
}

/** `host:port` pairs, separated by commas, as `isListedPrivateHost` compares them. */
export const hostAndPortSet: VariableParser<ReadonlySet<string>> = (text) => {
  const entries = text.split(",").map((entry) => entry.trim());
  const invalid = entries.find((entry) => entry !== "" && parsePrivateHosts(entry).size === 0);
  if (invalid === undefined) return parsePrivateHosts(text);
  return new VariableFault(
    `has the entry ${quoteShortened(invalid)}: each must be a host and a port, such as 127.0.0.1:8080`,
  );
};

/** Names of members that requests can do without, separated by commas. A name of a deeper member has dots. */
export const memberNames = createParser(
  "names of members that are not required, separated by commas",
  (text) => {
    const names = text.split(",").map((name) => name.trim());
    return names.every((name) => isMemberName(name) && isDroppable(name)) ? names : undefined;
  },
);

/** A comma-separated list of the given words. */
export function listOf<T extends string>(words: readonly T[]) {
  return createParser(`some of ${words.join(", ")}, separated by commas`, (text) => {
    const entries = text.split(",").map((word) => word.trim());
    const known = entries.flatMap((word) => words.find((candidate) => candidate === word) ?? []);
    return known.length === entries.length ? known : undefined;
  });
}

/**
 * Pairs `name=value`, separated by commas; values may be percent-encoded (the format of OpenTelemetry's variables).
 *
 * @param areHeaders whether each pair must be a valid HTTP header; values may then be credentials
 */
export const pairs = (areHeaders: boolean) =>
  createParser(
    areHeaders ? "HTTP headers such as name=value,name2=value2" : "pairs such as name=value,name2=value2",
    (text) => {
      const parsed: Record<string, string> = {};
      for (const entry of text.split(",").map((part) => part.trim())) {
        if (entry === "") continue;
        const separator = entry.indexOf("=");
        const name = entry.slice(0, Math.max(separator, 0)).trim();
        const value = decodePercent(entry.slice(separator + 1).trim());
        if (name === "" || value === undefined) return undefined;
        if (areHeaders && !(FIELD_NAME.test(name) && FIELD_VALUE.test(value))) return undefined;
        parsed[name] = value;
      }
      return parsed;
    },
    false,
  );
