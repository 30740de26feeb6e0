import * as z from "zod";
import { parsePrivateHosts } from "../url-safety/index.ts";

/** Timers take no more milliseconds: a longer one would end at once. */
const LONGEST_TIMER = 2_147_483_647;
const YES = ["true", "1", "yes", "on"];
const NO = ["false", "0", "no", "off"];
/** What the name of an HTTP field consists of (RFC 9110, section 5.6.2). */
const FIELD_NAME = /^[\w!#$%&'*+.^`|~-]+$/;

/**
 * A variable of one kind. Every fault is the rest of a sentence that begins with the variable's name.
 *
 * @param meant what it must be
 * @param read gives `undefined` for a text that is not that
 * @param quote whether the text may be shown; what may hold a secret must not be
 */
function kind<T>(meant: string, read: (text: string) => T | undefined, quote = true) {
  return z.string().transform((text, context): T => {
    const value = read(text);
    if (value !== undefined) return value;
    context.addIssue({
      code: "custom",
      message: quote ? `is ${quoted(text)}: it must be ${meant}` : `must be ${meant}`,
    });
    return z.NEVER;
  });
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

/** A time in milliseconds, at most `most`. */
export const milliseconds = (most = LONGEST_TIMER) => count(most);

/** `true` or `false`, or another usual pair of words. */
export const flag = kind("true or false", (text) => {
  const word = text.toLowerCase();
  if (YES.includes(word)) return true;
  return NO.includes(word) ? false : undefined;
});

/** One of some words. */
export function oneOf<T extends string>(words: readonly T[]) {
  return kind(`one of ${words.join(", ")}`, (text) => words.find((word) => word === text));
}

/** An http or https address. It may hold a password. */
export const httpUrl = kind("an http or https address", httpAddress, false);

/** The same, to which paths are added: slashes at its end are dropped. */
export const baseUrl = kind(
  "an http or https address",
  (text) => httpAddress(text)?.replace(/\/+$/, ""),
  false,
);

/** An http or https address, or null for `off`. */
export const httpUrlOrOff = kind(
  'an http or https address, or "off"',
  (text) => (text === "off" ? null : httpAddress(text)),
  false,
);

function httpAddress(text: string): string | undefined {
  return /^https?:$/.test(URL.parse(text)?.protocol ?? "") ? text : undefined;
}

/** The name of an HTTP header. */
export const headerName = kind("the name of an HTTP header", (text) =>
  FIELD_NAME.test(text) ? text : undefined,
);

const textsSchema = z.record(z.string(), z.string().trim().min(1));

/** A JSON object of texts that are not empty. */
export const textMap = kind(
  'a JSON object of texts, such as {"name":"value"}',
  (text) => {
    try {
      return textsSchema.safeParse(JSON.parse(text)).data;
    } catch {
      return undefined;
    }
  },
  false,
);

/** `host:port` pairs, separated by commas, as `isListedPrivateHost` compares them. */
export const hostPairs = z.string().transform((text, context): ReadonlySet<string> => {
  const entries = text.split(",").map((entry) => entry.trim());
  const wrong = entries.find((entry) => entry !== "" && parsePrivateHosts(entry).size === 0);
  if (wrong === undefined) return parsePrivateHosts(text);
  context.addIssue({
    code: "custom",
    message: `has the entry ${quoted(wrong)}: each must be a host and a port, such as 127.0.0.1:8080`,
  });
  return z.NEVER;
});

/** Some of certain words, separated by commas. */
export function someOf<T extends string>(words: readonly T[]) {
  return kind(`some of ${words.join(", ")}, separated by commas`, (text) => {
    const given = text.split(",").map((word) => word.trim());
    const known = given.flatMap((word) => words.find((one) => one === word) ?? []);
    return known.length === given.length ? known : undefined;
  });
}
