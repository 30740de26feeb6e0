import { countKnownBytes, GramSelector } from "./gram-selector.ts";
import { GRAM_BYTES, GramTable, halfwayWord } from "./gram-table.ts";
import { hitIndexes, TextSection, words } from "./text-bytes.ts";

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
  readonly #halfway: GramTable | undefined;
  readonly #bytes = new TextSection();
  /** Overlap of neighbouring sections of a text in characters, so that each occurrence is complete in one of them. */
  readonly #overlap: number;

  /**
   * @param literals distinct texts of at least three ASCII characters without upper case; a scan reports indexes of
   * this list
   */
  constructor(literals: readonly string[]) {
    const shortLiterals = literals.filter(({ length }) => length <= GRAM_BYTES);
    this.#literals = literals;
    this.#overlap = literals.reduce((longest, { length }) => Math.max(longest, length - 1), 0);
    this.#aligned = new GramTable(GRAM_BYTES * literals.length);
    // A gram with an unknown byte has 256 forms.
    this.#halfway = shortLiterals.length === 0 ? undefined : new GramTable(256 * shortLiterals.length);
    const selector = new GramSelector(literals);
    literals.forEach((literal, number) => {
      for (let first = 0; first < GRAM_BYTES; first++) {
        const aligned = selector.findRarest(literal, first);
        if (countKnownBytes(literal, aligned) >= GRAM_BYTES - 1) this.#aligned.add(literal, number, aligned);
        else
          this.#halfway?.add(
            literal,
            number,
            selector.findRarest(literal, (first + GRAM_BYTES / 2) % GRAM_BYTES),
          );
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
    for (let scanned = 0; scanned < text.length; scanned = bytes.end) {
      bytes.loadSection(text, Math.max(0, scanned - this.#overlap));
      this.#scanSection(scanned, found);
    }
    return found;
  }

  /** @param scannedEnd the end of the previous section, which has reported all literals that end before it */
  #scanSection(scannedEnd: number, found: Map<number, number[]>): void {
    const count = Math.ceil(this.#bytes.length / GRAM_BYTES);
    const aligned = this.#aligned.findAligned(count);
    for (let i = 0; i < aligned; i++) {
      const word = hitIndexes[i] ?? 0;
      this.#compareLiterals(this.#aligned, GRAM_BYTES * word, words[word] ?? 0, scannedEnd, found);
    }
    if (this.#halfway === undefined) return;
    const halfway = this.#halfway.findHalfway(count);
    for (let i = 0; i < halfway; i++) {
      const word = hitIndexes[i] ?? 0;
      this.#compareLiterals(
        this.#halfway,
        GRAM_BYTES * word + GRAM_BYTES / 2,
        halfwayWord(word),
        scannedEnd,
        found,
      );
    }
  }

  /** Compares the literals at the position of a gram. */
  #compareLiterals(
    table: GramTable,
    offset: number,
    gram: number,
    scannedEnd: number,
    found: Map<number, number[]>,
  ): void {
    for (const mask of table.masks) {
      for (let entry = table.first(gram, mask); entry !== 0; entry = table.next(entry)) {
        const number = table.literal(entry);
        const start = offset - table.offset(entry);
        if (this.#bytes.hasLiteralAt(this.#literals[number] ?? "", start))
          this.#recordPosition(number, start, scannedEnd, found);
      }
    }
  }

  #recordPosition(number: number, start: number, scannedEnd: number, found: Map<number, number[]>): void {
    const position = this.#bytes.unitAt(start);
    if (position + (this.#literals[number] ?? "").length <= scannedEnd) return;
    const positions = found.get(number);
    if (positions === undefined) found.set(number, [position]);
    else if (positions.length < MAX_POSITIONS) positions.push(position);
  }
}
