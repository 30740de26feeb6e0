import type { EnginePattern } from "wappalyzer-core";
import type { SliceableText } from "./joined-text.ts";

/**
 * Matches a version number with optional parts between two lazy repetitions. If the rest of such a pattern fails, the
 * engine combines every length of one repetition with every length of the other.
 */
const NESTED_REPETITION = /\{1,250\}\(\?:\\?\.\[\\d\]\{1,250\}/;
/** How far such a pattern reaches before and after its literal, in characters. */
const BEFORE = 520;
const AFTER = 600;
/** Possible ends of a hexadecimal number of 7 to 40 digits. */
const HEX_ENDS = 34;
/**
 * A link with a long address costs 10^7. A page full of such links stays far below this maximum, which takes less than
 * a second.
 */
const MAX_COST = 1e9;

/** Whether the time of a pattern can grow with a high power of the length of a tag or address. */
export function isRedosProne({ regex }: EnginePattern): boolean {
  return NESTED_REPETITION.test(regex.source);
}

/** Sums up the possible cost of such a pattern on the texts of a page, and decides when it is too high. */
export class RedosCost {
  #cost = 0;

  /** @param positions of the pattern's literals in the text */
  add(text: SliceableText, positions: readonly number[]): void {
    for (const position of positions) {
      if (this.exceedsLimit) return;
      const before = text.slice(Math.max(0, position - BEFORE), position);
      const after = text.slice(position, position + AFTER);
      const tag = before.slice(before.lastIndexOf(">") + 1);
      const rest = after.includes(">") ? after.slice(0, after.indexOf(">")) : after;
      // The engine combines each start, each attribute, each end of the first repetition, each number and each end of
      // the second.
      const starts = 1 + count(tag, /</g) * count(tag, /=/g);
      this.#cost += starts * rest.length ** 2 * (HEX_ENDS + longestNumber(after) ** 3);
    }
  }

  get exceedsLimit(): boolean {
    return this.#cost > MAX_COST;
  }
}

function count(text: string, pattern: RegExp): number {
  return text.match(pattern)?.length ?? 0;
}

function longestNumber(text: string): number {
  return Math.max(0, ...(text.match(/\d+/g) ?? []).map((digits) => digits.length));
}
