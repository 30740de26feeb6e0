import { GramSelector } from "./gram-selector.ts";
import { GramTable } from "./gram-table.ts";
import type { SliceableText } from "./joined-text.ts";
import { hits, TextSection } from "./text-bytes.ts";

/** Maximum positions per literal. Only a page built to be slow has more. */
const MAX_POSITIONS = 5_000;
/** Maximum distance in bytes of the positions that a scan looks at. */
const MAX_STEP = 4;

/**
 * Finds which of many literals occur in a text, ignoring ASCII case. It looks at every fourth byte of the text, or at
 * more of them if a literal is short: wherever a literal occurs, one of its grams starts at such a byte.
 */
export class LiteralScanner {
  readonly #literals: readonly string[];
  readonly #table = new GramTable();
  /** Distance in bytes of the positions that it looks at. */
  readonly #step: number;
  readonly #bytes = new TextSection();
  /** Overlap of neighbouring sections of a text in characters, so that each occurrence is complete in one of them. */
  readonly #overlap: number;

  /**
   * @param literals distinct texts of at least three ASCII characters without upper case; a scan reports indexes of
   * this list
   */
  constructor(literals: readonly string[]) {
    this.#literals = literals;
    // With a larger step, there would be places of a short literal where every gram has two bytes of other text.
    this.#step = Math.min(MAX_STEP, ...literals.map(({ length }) => length - 1));
    this.#overlap = literals.reduce((longest, { length }) => Math.max(longest, length - 1), 0);
    const selector = new GramSelector(literals);
    literals.forEach((literal, number) => {
      for (let first = 0; first < this.#step; first++)
        this.#table.add(literal, number, selector.findRarest(literal, first, this.#step));
    });
  }

  /**
   * @returns the literals in the text, by index, with their start positions: at most {@link MAX_POSITIONS} each, in no
   * particular order
   */
  scan(text: SliceableText): Map<number, number[]> {
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
    const table = this.#table;
    const count = table.findHits(this.#step, this.#bytes.length);
    for (let i = 0; i < count; i++) {
      const position = hits[i] ?? 0;
      for (let entry = table.first(position); entry !== 0; entry = table.next(entry)) {
        const number = table.literal(entry);
        const start = position - table.offset(entry);
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
