import { GRAM, gramAt } from "./gram-table.ts";

/** A prime: each byte of a gram has a say in which counter is its. */
const COUNTERS = 32_749;
/** So often the grams of common text count. */
const COMMON_WEIGHT = 8;
/** What pages are full of. */
const COMMON = `<a class=" href="https://www. href="http:// href="/ style=" type="text content=" data- </a> </div> <div> </span> <span </li> <li>
  </p> <br> <p> <img src=" alt=" width=" height=" title=" id=" name=" .com .org .net image media article text right left line size list position
  display background- padding margin: border font- color: section container content content- module header news page head time footer block wrapper
  comment share video story and the that for with this from have tion able ment { } ; 0px auto none; function(var return true false null "id":
  "type": "url": "name":  ","  ":" wp- javascript script window.document. query`;

/** Chooses grams of literals: those that are rare among all of them and in common text tend to be rare on pages too. */
export class GramChoice {
  readonly #counts = new Uint16Array(COUNTERS);

  constructor(literals: readonly string[]) {
    this.#count(COMMON, COMMON_WEIGHT);
    for (const literal of literals) this.#count(literal, 1);
  }

  /**
   * Of a literal's grams that start as many places from its start, or whole grams further or before, where the best one starts: the rarest; of a
   * short literal the one that has most of it.
   */
  best(literal: string, first: number): number {
    let best = first;
    let fewest = Number.POSITIVE_INFINITY;
    for (let at = first; at + GRAM <= literal.length; at += GRAM) {
      const count = this.#counts[counterOf(literal, at)] ?? 0;
      if (count < fewest) [best, fewest] = [at, count];
    }
    return knownBytes(literal, best - GRAM) > knownBytes(literal, best) ? best - GRAM : best;
  }

  #count(text: string, weight: number): void {
    for (let at = 0; at + GRAM <= text.length; at++) {
      const counter = counterOf(text, at);
      this.#counts[counter] = (this.#counts[counter] ?? 0) + weight;
    }
  }
}

/** How many bytes of the gram that starts at a position are in its literal. */
export function knownBytes({ length }: string, offset: number): number {
  return Math.min(offset + GRAM, length) - Math.max(offset, 0);
}

function counterOf(text: string, at: number): number {
  return Math.abs(gramAt(text, at)) % COUNTERS;
}
