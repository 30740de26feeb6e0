import type { EnginePattern } from "wappalyzer-core";
import type { SliceableText } from "./joined-text.ts";
import { isRedosProne, RedosCost } from "./redos-guard.ts";

/**
 * Maximum characters in which one pattern is tried on one text; only pages built to be slow have more around its
 * literals.
 */
const MAX_CHARACTERS_PER_PATTERN = 262_144;
/** Maximum characters in which all patterns together are tried on the texts of a page. */
const MAX_CHARACTERS_PER_PAGE = 4_194_304;

/** The remaining matching budget of one page. */
export class MatchBudget {
  #left = MAX_CHARACTERS_PER_PAGE;

  /** Takes the requested number of characters, or as many as are left. */
  take(characters: number): number {
    const taken = Math.min(characters, this.#left);
    this.#left -= taken;
    return taken;
  }
}

/**
 * The parts of a text in which a pattern can match, in order: the surroundings of its literals, wide enough for any
 * match and for its context on each side. The first match in them is the first match in the text. Their total length is
 * limited, and so is the time that a page can make a pattern take.
 *
 * @param positions of the literals of which a match contains one; absent if the pattern has none
 * @param span maximum characters of a match; 0 if the pattern must see the whole text
 * @param budget the page's budget; each window reduces it
 */
export function* matchWindows(
  text: SliceableText,
  positions: readonly number[] | undefined,
  span: number,
  patterns: readonly EnginePattern[],
  budget: MatchBudget,
): Generator<string> {
  if (positions === undefined || span === 0) {
    yield text.slice(0, budget.take(text.length));
    return;
  }
  if (patterns.some(isRedosProne)) {
    const cost = new RedosCost();
    cost.add(text, positions);
    if (cost.exceedsLimit) return;
  }
  let remaining = MAX_CHARACTERS_PER_PATTERN;
  for (const [start, end] of mergeWindows(positions, span + 2)) {
    const length = budget.take(Math.min(remaining, end - start, text.length - start));
    if (length <= 0) return;
    remaining -= length;
    yield text.slice(start, start + length);
  }
}

/** The ranges of text within `reach` of each position; overlapping ranges are merged. */
function mergeWindows(positions: readonly number[], reach: number): [start: number, end: number][] {
  const merged: [start: number, end: number][] = [];
  for (const position of positions.toSorted((a, b) => a - b)) {
    const last = merged.at(-1);
    const start = Math.max(0, position - reach);
    if (last !== undefined && start <= last[1]) last[1] = position + reach;
    else merged.push([start, position + reach]);
  }
  return merged;
}
