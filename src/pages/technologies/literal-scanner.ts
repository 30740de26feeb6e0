import { GramChoice, knownBytes } from "./gram-choice.ts";
import { between, GRAM, GramTable } from "./gram-table.ts";
import { hits, TextBytes, words } from "./text-bytes.ts";

/** Maximum positions per literal. Only a page built to be slow has more. */
const MAX_POSITIONS = 5_000;

/**
 * Finds which of many literals occur in a text, ignoring ASCII case. It checks only every fourth byte of the text: in
 * any occurrence of a literal of five characters or more, one of the literal's grams starts at a checked byte, with at
 * least three known bytes. For shorter literals it also checks the bytes halfway between.
 */
export class LiteralScanner {
  readonly #literals: readonly string[];
  readonly #aligned: GramTable;
  readonly #between: GramTable | undefined;
  readonly #bytes = new TextBytes();
  /** Overlap of neighbouring sections of a text in characters, so that each occurrence is complete in one of them. */
  readonly #overlap: number;

  /**
   * @param literals distinct texts of at least three ASCII characters without upper case; a scan reports indexes of
   * this list
   */
  constructor(literals: readonly string[]) {
    const short = literals.filter(({ length }) => length <= GRAM);
    this.#literals = literals;
    this.#overlap = literals.reduce((longest, { length }) => Math.max(longest, length - 1), 0);
    this.#aligned = new GramTable(GRAM * literals.length);
    // A gram with an unknown byte has 256 forms.
    this.#between = short.length === 0 ? undefined : new GramTable(256 * short.length);
    const choice = new GramChoice(literals);
    literals.forEach((literal, number) => {
      for (let first = 0; first < GRAM; first++) {
        const aligned = choice.best(literal, first);
        if (knownBytes(literal, aligned) >= GRAM - 1) this.#aligned.add(literal, number, aligned);
        else this.#between?.add(literal, number, choice.best(literal, (first + GRAM / 2) % GRAM));
      }
    });
  }

  /**
   * @returns the literals in the text, by index, with their start positions: at most {@link MAX_POSITIONS} each, in no
   * particular order
   */
  scan(text: string): Map<number, number[]> {
    const found = new Map<number, number[]>();
    const bytes = this.#bytes;
    for (let seen = 0; seen < text.length; seen = bytes.end) {
      bytes.load(text, Math.max(0, seen - this.#overlap));
      this.#scanStretch(seen, found);
    }
    return found;
  }

  /** @param seen the end of the previous section, which has reported all literals that end before it */
  #scanStretch(seen: number, found: Map<number, number[]>): void {
    const count = Math.ceil(this.#bytes.length / GRAM);
    const aligned = this.#aligned.findIn(count);
    for (let i = 0; i < aligned; i++) {
      const word = hits[i] ?? 0;
      this.#compare(this.#aligned, GRAM * word, words[word] ?? 0, seen, found);
    }
    if (this.#between === undefined) return;
    const halves = this.#between.findBetween(count);
    for (let i = 0; i < halves; i++) {
      const word = hits[i] ?? 0;
      this.#compare(this.#between, GRAM * word + GRAM / 2, between(word), seen, found);
    }
  }

  /** Compares the literals at the position of a gram. */
  #compare(table: GramTable, at: number, gram: number, seen: number, found: Map<number, number[]>): void {
    for (const mask of table.masks) {
      for (let entry = table.first(gram, mask); entry !== 0; entry = table.next(entry)) {
        const number = table.literal(entry);
        const start = at - table.offset(entry);
        if (this.#bytes.has(this.#literals[number] ?? "", start)) this.#note(number, start, seen, found);
      }
    }
  }

  #note(number: number, start: number, seen: number, found: Map<number, number[]>): void {
    const position = this.#bytes.unitAt(start);
    if (position + (this.#literals[number] ?? "").length <= seen) return;
    const positions = found.get(number);
    if (positions === undefined) found.set(number, [position]);
    else if (positions.length < MAX_POSITIONS) positions.push(position);
  }
}
