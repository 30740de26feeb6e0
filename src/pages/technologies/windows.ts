import type { EnginePattern } from "wappalyzer-core";

/** Characters in which one pattern is tried on one text; more are only there on pages that are made to be slow. */
const MAX_TRIED = 65_536;
/** The same for steep patterns. */
const MAX_TRIED_STEEP = 16_384;
/** With so many wide repetitions, a pattern's time grows with the third power of the length of a tag. */
const STEEP = 7;

/**
 * The parts of a text in which a pattern can match, in order: those around its literals, wide enough for any match and a character on each side.
 * The first match in them is the first match in the text. The time that a page can make a pattern take is bounded by the length of the parts.
 *
 * @param positions where the literals are of which a match contains one; absent when there are none
 * @param span how many characters a match can have; 0 when the pattern must see the whole text
 */
export function partsToTry(
  text: string,
  positions: readonly number[] | undefined,
  span: number,
  patterns: readonly EnginePattern[],
): string[] {
  if (positions === undefined || span === 0) return [text];
  const steep = patterns.some(isSteep);
  const parts: string[] = [];
  let left = steep ? MAX_TRIED_STEEP : MAX_TRIED;
  for (const [start, end] of windows(positions, span + 2)) {
    const part = text.slice(start, Math.min(end, start + left));
    parts.push(steep ? breakTags(part) : part);
    left -= part.length;
    if (left <= 0) break;
  }
  return parts;
}

/** The stretches of text that reach as far from each position, overlapping ones joined. */
function windows(positions: readonly number[], reach: number): [start: number, end: number][] {
  const joined: [start: number, end: number][] = [];
  for (const position of positions.toSorted((a, b) => a - b)) {
    const last = joined.at(-1);
    const start = Math.max(0, position - reach);
    if (last !== undefined && start <= last[1]) last[1] = position + reach;
    else joined.push([start, position + reach]);
  }
  return joined;
}

function isSteep({ regex }: EnginePattern): boolean {
  return regex.source.split(",250}").length > STEEP;
}

/** Steep patterns stay within a tag, so that ending each in time bounds what they can cost. */
function breakTags(part: string): string {
  return part.replace(/[^>]{600}/g, "$&>");
}
