import { isObject } from "../encoding/json.ts";
import { withoutTrailingSlashes } from "../encoding/path-segment.ts";
import { parsePrivateHosts } from "../url-safety/index.ts";

/** The maximum delay of a timer: a longer one would fire at once. */
const LONGEST_TIMER = 2_147_483_647;
const YES = ["true", "1", "yes", "on"];
const NO = ["false", "0", "no", "off"];
/** The characters of an HTTP field name (RFC 9110, section 5.6.2). */
const FIELD_NAME = /^[\w!#$%&'*+.^`|~-]+$/;

/** Why a variable is invalid: the rest of a sentence that starts with the variable's name. */
export class Fault {
  readonly said: string;

  constructor(said: string) {
    this.said = said;
  }
}

/**
 * Parses the text of a variable. It is no zod schema because every new isolate parses all variables before its first
 * request.
 */
export type Kind<T> = (text: string) => T | Fault;

/**
 * Creates the parser of one kind of variable.
 *
 * @param meant what the value must be, for the error message
 * @param read returns `undefined` for an invalid text
 * @param quote whether the error may quote the text; false if the text may contain a secret
 */
function kind<T>(meant: string, read: (text: string) => T | undefined, quote = true): Kind<T> {
  return (text) =>
    read(text) ?? new Fault(quote ? `is ${quoted(text)}: it must be ${meant}` : `must be ${meant}`);
}

function quoted(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text);
}

/** A whole number from 1 to `most`. */
export function count(most = Number.MAX_SAFE_INTEGER) {
  const meant = most === Number.MAX_SAFE_INTEGER ? "above 0" : `from 1 to ${most}`;
  return kind(`a whole number ${meant}`, (text) => {
    const value = Number(text);
    return Number.isInteger(value) && value > 0 && value <= most ? value : undefined;
  });
}

/** A duration in milliseconds, at most `most`. */
export const milliseconds = (most = LONGEST_TIMER) => count(most);

/** `true` or `false`, or another common pair of words. */
export const flag = kind("true or false", (text) => {
  const word = text.toLowerCase();
  if (YES.includes(word)) return true;
  return NO.includes(word) ? false : undefined;
});

/** One of the given words, or an alias. An alias is returned unchanged; the error message does not list aliases. */
export function oneOf<T extends string>(words: readonly T[], aliases: readonly T[] = []) {
  return kind(`one of ${words.join(", ")}`, (text) => [...words, ...aliases].find((word) => word === text));
}

/** An http or https address. It may hold a password. */
export const httpUrl = kind("an http or https address", httpAddress, false);

/** An http or https address to which paths are added: trailing slashes are removed. */
export const baseUrl = kind(
  "an http or https address",
  (text) => {
    const address = httpAddress(text);
    return address === undefined ? undefined : withoutTrailingSlashes(address);
  },
  false,
);

/** An http or https address, or null for `off`. */
export const httpUrlOrOff: Kind<string | null> = (text) =>
  text === "off" ? null : (httpAddress(text) ?? new Fault('must be an http or https address, or "off"'));

function httpAddress(text: string): string | undefined {
  return /^https?:$/.test(URL.parse(text)?.protocol ?? "") ? text : undefined;
}

/** The name of an HTTP header. */
export const headerName = kind("the name of an HTTP header", (text) =>
  FIELD_NAME.test(text) ? text : undefined,
);

/** A JSON object whose values are non-empty texts. */
export const textMap = kind(
  'a JSON object of texts, such as {"name":"value"}',
  (text) => {
    const members = membersOf(text)?.map(([name, value]): [string, string] => [
      name,
      typeof value === "string" ? value.trim() : "",
    ]);
    return members?.every(([, value]) => value !== "") ? Object.fromEntries(members) : undefined;
  },
  false,
);

/** The members of a JSON object; undefined if the text is not a JSON object. */
function membersOf(text: string): [string, unknown][] | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? Object.entries(value) : undefined;
  } catch {
    return undefined;
  }
}

/** `host:port` pairs, separated by commas, as `isListedPrivateHost` compares them. */
export const hostPairs: Kind<ReadonlySet<string>> = (text) => {
  const entries = text.split(",").map((entry) => entry.trim());
  const wrong = entries.find((entry) => entry !== "" && parsePrivateHosts(entry).size === 0);
  if (wrong === undefined) return parsePrivateHosts(text);
  return new Fault(`has the entry ${quoted(wrong)}: each must be a host and a port, such as 127.0.0.1:8080`);
};

/** A comma-separated list of the given words. */
export function someOf<T extends string>(words: readonly T[]) {
  return kind(`some of ${words.join(", ")}, separated by commas`, (text) => {
    const given = text.split(",").map((word) => word.trim());
    const known = given.flatMap((word) => words.find((one) => one === word) ?? []);
    return known.length === given.length ? known : undefined;
  });
}
