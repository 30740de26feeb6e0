import { foldToAscii, UNIT_FLAGS } from "./characters.ts";
import { BRACKET_FLAG } from "./units.ts";

const OPENED = /^<{1,2}[| -]{0,3}\[[| -]{0,2}cdata[| -]{0,2}\[/i;
const MAY_OPEN = /^<{1,2}(?:[| -]{1,3}|[| -]{0,3}\[[| -]{0,2}(?:c(?:d(?:a(?:t(?:a[| -]{0,2})?)?)?)?)?)?$/i;
/** After this the second bracket may be missing, if a separator replaces it. */
const NAMED = /^<{1,2}[| -]{0,3}\[[| -]{0,2}cdata\|?$/i;
const MAX_OPENING = 24;
/** Most separators before the second bracket of an end mark, and before its `>`. */
const MAX_GAP = 2;
const SEPARATORS = "|｜¦!！、，▁·";

/** Whether a UTF-16 unit is a separator that models write between the parts of a mark. Letters of any script are not. */
function isSeparator(unit: number): boolean {
  if (unit < 0x20) return unit !== 0x09 && unit !== 0x0a && unit !== 0x0d;
  return (unit >= 0x2400 && unit <= 0x2426) || SEPARATORS.includes(String.fromCharCode(unit));
}

/**
 * Reads a CDATA opening at `at`, also in distorted forms (docs/contract.md, tool rule 2); returns the index after
 * it.
 * @param allowSeparator Whether a separator may replace the second bracket, as in `<![CDATA|`.
 */
export function readCdata(
  source: string,
  at: number,
  final: boolean,
  allowSeparator: boolean,
): number | "partial" | "none" {
  const stop = Math.min(source.length, at + MAX_OPENING);
  let folded = "";
  let shortEnd: number | "none" = "none";
  for (let index = at; index < stop; index++) {
    if (allowSeparator && isSeparator(source.charCodeAt(index)) && NAMED.test(folded)) shortEnd = index + 1;
    folded += foldToAscii(source.codePointAt(index) ?? 0);
    if (OPENED.test(folded)) return index + 1;
    if (!MAY_OPEN.test(folded)) return shortEnd;
  }
  return !final && stop === source.length ? "partial" : shortEnd;
}

/** Whether the text ends within an incomplete CDATA opening at `at`. */
export function endsInCdata(source: string, at: number): boolean {
  const unit = source.codePointAt(at + 1);
  const second = unit === undefined ? "" : foldToAscii(unit);
  return (second === "|" || second === "[") && readCdata(source, at, false, true) === "partial";
}

/**
 * `exact`: `]]>`, in any width. `drifted`: the same with separators or spaces within. `half`: `]]` directly before a tag.
 */
export interface CdataEnd {
  kind: "exact" | "drifted" | "half";
  /** Index after the mark. */
  end: number;
}

function skipGap(source: string, from: number): number {
  let index = from;
  while (index < from + MAX_GAP && (source[index] === " " || isSeparator(source.charCodeAt(index)))) index++;
  return index;
}

/** Reads an end mark of CDATA that begins with the bracket at `at`. */
export function readCdataEnd(source: string, at: number, final: boolean): CdataEnd | "partial" | "none" {
  const incomplete = final ? "none" : "partial";
  const second = skipGap(source, at + 1);
  if (second >= source.length) return incomplete;
  if (UNIT_FLAGS[source.charCodeAt(second)] !== BRACKET_FLAG) return "none";
  const last = skipGap(source, second + 1);
  if (last >= source.length) return incomplete;
  const isExact = last === at + 2;
  const sign = foldToAscii(source.codePointAt(last) ?? 0);
  if (sign === ">") return { kind: isExact ? "exact" : "drifted", end: last + 1 };
  return sign === "<" && isExact ? { kind: "half", end: last } : "none";
}
