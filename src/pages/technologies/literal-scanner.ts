import { GramChoice, knownBytes } from "./gram-choice.ts";
import { between, GRAM, GramTable } from "./gram-table.ts";
import { hits, TextBytes, words } from "./text-bytes.ts";

/** A text in which a literal occurs more often than this is made to be slow. */
const MAX_POSITIONS = 5_000;

/**
 * Finds which of many literals occur in a text, without regard to ASCII case. Of the text's bytes only every fourth is looked at: wherever a literal
 * of five characters or more stands, one of its grams starts there, of which at least three bytes are known. Shorter ones are looked for halfway, too.
 */
export class LiteralScanner {
  readonly #literals: readonly string[];
  readonly #aligned: GramTable;
  readonly #between: GramTable | undefined;
  readonly #bytes = new TextBytes();
  /** Neighbouring stretches of a text share so many characters: each literal is in one of them. */
  readonly #overlap: number;

  /** @param literals distinct texts of at least three ASCII characters without upper case; an index in this list is what a scan reports */
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

  /** @returns the literals that occur in the text, by index, with where they start: {@link MAX_POSITIONS} places of each at most, in no particular order */
  scan(text: string): Map<number, number[]> {
    const found = new Map<number, number[]>();
    const bytes = this.#bytes;
    for (let seen = 0; seen < text.length; seen = bytes.end) {
      bytes.load(text, Math.max(0, seen - this.#overlap));
      this.#scanStretch(seen, found);
    }
    return found;
  }

  /** @param seen end of the stretch before, which has told of the literals that end in it */
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

  /** Looks which literals are where a gram is. */
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
