import { GRAM_BYTES, readGram } from "./gram-table.ts";

/** A prime, so that each byte of a gram affects the choice of the counter. */
const COUNTER_SLOTS = 32_749;
/** Weight of grams in common text. */
const COMMON_WEIGHT = 8;
/** Text that is frequent on pages. */
const COMMON_TEXT = `<a class=" href="https://www. href="http:// href="/ style=" type="text content=" data- </a> </div> <div> </span> <span </li> <li>
  </p> <br> <p> <img src=" alt=" width=" height=" title=" id=" name=" .com .org .net image media article text right left line size list position
  display background- padding margin: border font- color: section container content content- module header news page head time footer block wrapper
  comment share video story and the that for with this from have tion able ment { } ; 0px auto none; function(var return true false null "id":
  "type": "url": "name":  ","  ":" wp- javascript script window.document. query`;

/**
 * Chooses a gram for each literal. A gram that is rare among all literals and in common text tends to be rare on pages
 * too.
 */
export class GramSelector {
  readonly #counts = new Uint16Array(COUNTER_SLOTS);

  constructor(literals: readonly string[]) {
    this.#countGrams(COMMON_TEXT, COMMON_WEIGHT);
    for (const literal of literals) this.#countGrams(literal, 1);
  }

  /**
   * The start of the rarest gram of a literal, among the offsets `first`, `first + step`, and so on. For a short
   * literal it returns the offset that covers most of it, which may be before its start.
   */
  findRarest(literal: string, first: number, step: number): number {
    let rarest = first;
    let lowestCount = Number.POSITIVE_INFINITY;
    for (let offset = first; offset + GRAM_BYTES <= literal.length; offset += step) {
      const count = this.#counts[counterIndex(literal, offset)] ?? 0;
      if (count < lowestCount) [rarest, lowestCount] = [offset, count];
    }
    return countKnownBytes(literal, rarest - step) > countKnownBytes(literal, rarest)
      ? rarest - step
      : rarest;
  }

  #countGrams(text: string, weight: number): void {
    for (let offset = 0; offset + GRAM_BYTES <= text.length; offset++) {
      const counter = counterIndex(text, offset);
      this.#counts[counter] = (this.#counts[counter] ?? 0) + weight;
    }
  }
}

/** The number of bytes of the gram at an offset that belong to the literal. */
function countKnownBytes({ length }: string, offset: number): number {
  return Math.min(offset + GRAM_BYTES, length) - Math.max(offset, 0);
}

function counterIndex(text: string, offset: number): number {
  return Math.abs(readGram(text, offset)) % COUNTER_SLOTS;
}
