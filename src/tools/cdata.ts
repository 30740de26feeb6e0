import { BRACKET, fold, UNITS } from "./characters.ts";

const OPENED = /^<{1,2}[| -]{0,3}\[[| -]{0,2}cdata[| -]{0,2}\[/i;
const MAY_OPEN = /^<{1,2}(?:[| -]{1,3}|[| -]{0,3}\[[| -]{0,2}(?:c(?:d(?:a(?:t(?:a[| -]{0,2})?)?)?)?)?)?$/i;
/** The second bracket may be missing behind this, if separators stand in its place. */
const NAMED = /^<{1,2}[| -]{0,3}\[[| -]{0,2}cdata\|?$/i;
const MAX_OPENING = 24;
/** So many separators may stand before the second bracket of an end mark, and before its last sign. */
const MAX_GAP = 2;
const SEPARATORS = "|｜¦!！、，▁·";

/** Whether a unit is one of the separators that models put between the parts of a mark; letters of any script are none. */
function separates(unit: number): boolean {
  if (unit < 0x20) return unit !== 0x09 && unit !== 0x0a && unit !== 0x0d;
  return (unit >= 0x2400 && unit <= 0x2426) || SEPARATORS.includes(String.fromCharCode(unit));
}

/**
 * Reads a CDATA opening at `at`, drifted or not (contract, Tool calling rules, rule 2); returns the index behind it.
 * @param short Whether separators may stand in place of the second bracket, as in `<![CDATA|`.
 */
export function readCdata(
  source: string,
  at: number,
  final: boolean,
  short: boolean,
): number | "partial" | "none" {
  const stop = Math.min(source.length, at + MAX_OPENING);
  let folded = "";
  let shortEnd: number | "none" = "none";
  for (let index = at; index < stop; index++) {
    if (short && separates(source.charCodeAt(index)) && NAMED.test(folded)) shortEnd = index + 1;
    folded += fold(source.codePointAt(index) ?? 0);
    if (OPENED.test(folded)) return index + 1;
    if (!MAY_OPEN.test(folded)) return shortEnd;
  }
  return !final && stop === source.length ? "partial" : shortEnd;
}

/** Whether the text ends within what can only be a CDATA opening, which begins at `at`. */
export function endsInCdata(source: string, at: number): boolean {
  const unit = source.codePointAt(at + 1);
  const second = unit === undefined ? "" : fold(unit);
  return (second === "|" || second === "[") && readCdata(source, at, false, true) === "partial";
}

/** `exact`: `]]>`, in any width. `drifted`: the same with separators or spaces within. `half`: `]]` right before a tag. */
export interface CdataEnd {
  kind: "exact" | "drifted" | "half";
  /** Index behind the mark. */
  end: number;
}

function skipGap(source: string, from: number): number {
  let index = from;
  while (index < from + MAX_GAP && (source[index] === " " || separates(source.charCodeAt(index)))) index++;
  return index;
}

/** Reads an end mark of CDATA that begins with the bracket at `at`. */
export function readCdataEnd(source: string, at: number, final: boolean): CdataEnd | "partial" | "none" {
  const short = final ? "none" : "partial";
  const second = skipGap(source, at + 1);
  if (second >= source.length) return short;
  if (UNITS[source.charCodeAt(second)] !== BRACKET) return "none";
  const last = skipGap(source, second + 1);
  if (last >= source.length) return short;
  const exact = last === at + 2;
  const sign = fold(source.codePointAt(last) ?? 0);
  if (sign === ">") return { kind: exact ? "exact" : "drifted", end: last + 1 };
  return sign === "<" && exact ? { kind: "half", end: last } : "none";
}
