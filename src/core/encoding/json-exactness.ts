import { skipSpace, skipString } from "./json-splice.ts";

/** An object or a string begins, an object ends, or a number begins. */
const MARKS = /[{}"\d-]/g;

const NUMBER = /-?\d[\d.eE+-]*/y;

/** Numbers with at most this many significant digits stay distinct when they are parsed. */
const EXACT_DIGITS = 15;

/** The smallest number that has full precision. */
const LEAST_NORMAL = 2 ** -1022;

function isExact(source: string): boolean {
  const value = Number(source);
  const [digits = ""] = source.split(/e/i, 1);
  if (!/[1-9]/.test(digits)) return true;
  if (!Number.isFinite(value) || Math.abs(value) < LEAST_NORMAL) return false;
  return digits.replace(/\D/g, "").length <= EXACT_DIGITS || String(value) === source;
}

/** The index of the next mark; -1: there is none. */
function findMark(text: string, from: number): number {
  MARKS.lastIndex = from;
  return MARKS.exec(text)?.index ?? -1;
}

function readNumber(text: string, at: number): string {
  NUMBER.lastIndex = at;
  return NUMBER.exec(text)?.[0] ?? "-";
}

/**
 * Whether all parsers read a JSON text alike: no object states a member twice, and parsing loses no digit of a number.
 * `text` must be valid JSON.
 */
export function isUnambiguousJson(text: string): boolean {
  /** The names of members of the open objects. */
  const openObjects: Set<unknown>[] = [];
  for (let at = findMark(text, 0); at !== -1; ) {
    let end = at + 1;
    const mark = text[at];
    if (mark === "{") openObjects.push(new Set());
    else if (mark === "}") openObjects.pop();
    else if (mark === '"') {
      end = skipString(text, at);
      if (text[skipSpace(text, end)] === ":") {
        const name: unknown = JSON.parse(text.slice(at, end));
        const names = openObjects.at(-1);
        if (names?.has(name) === true) return false;
        names?.add(name);
      }
    } else {
      const number = readNumber(text, at);
      if (!isExact(number)) return false;
      end = at + number.length;
    }
    at = findMark(text, end);
  }
  return true;
}
