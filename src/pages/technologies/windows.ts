import type { EnginePattern } from "wappalyzer-core";
import { isSteep, SteepCost } from "./steep.ts";

/** Characters in which one pattern is tried on one text; only pages made to be slow have more around its literals. */
const MAX_TRIED = 262_144;
/** Characters in which all patterns together are tried on the texts of a page. */
const MAX_TRIED_TOGETHER = 4_194_304;

/** What is left to try on one page. */
export class Effort {
  #left = MAX_TRIED_TOGETHER;

  /** Takes as much of a wish as is left. */
  take(characters: number): number {
    const taken = Math.min(characters, this.#left);
    this.#left -= taken;
    return taken;
  }
}

/**
 * The parts of a text in which a pattern can match, in order: those around its literals, wide enough for any match and for what it looks at on
 * each side. The first match in them is the first match in the text. Their length is bounded, and with it the time that a page can make a
 * pattern take.
 *
 * @param positions where the literals are of which a match contains one; absent when the pattern has none
 * @param span how many characters a match can have; 0 when the pattern must see the whole text
 * @param effort of the page, from which the parts are taken
 */
export function* partsToTry(
  text: string,
  positions: readonly number[] | undefined,
  span: number,
  patterns: readonly EnginePattern[],
  effort: Effort,
): Generator<string> {
  if (positions === undefined || span === 0) {
    yield text.slice(0, effort.take(text.length));
    return;
  }
  if (patterns.some(isSteep)) {
    const cost = new SteepCost();
    cost.add(text, positions);
    if (cost.isTooMuch) return;
  }
  let left = MAX_TRIED;
  for (const [start, end] of windows(positions, span + 2)) {
    const length = effort.take(Math.min(left, end - start, text.length - start));
    if (length <= 0) return;
    left -= length;
    yield text.slice(start, start + length);
  }
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
