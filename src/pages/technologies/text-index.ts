import { type Catalogue, getLiteralGroups, type Technology, type TextField } from "./catalogue.ts";
import type { SliceableText } from "./joined-text.ts";
import { LiteralScanner } from "./literal-scanner.ts";

/** A pattern of a text field, or a selector, by its index in its technology. */
type PatternRef = { readonly technology: Technology; readonly index: number };

/** A pattern that could match a text. */
export type Candidate = PatternRef & {
  /** Positions of the literals of which each match contains one; absent if the pattern has none. */
  readonly positions?: readonly number[];
};

/** A pattern with the numbers of its literals: at least one of each group must occur. */
type IndexedPattern = PatternRef & {
  readonly first: readonly number[];
  readonly others: readonly (readonly number[])[];
};

/**
 * Finds the patterns of one field that could match a text, by the literals that they need: only these must be tried. It
 * never omits a pattern that could match.
 */
export class TextIndex {
  readonly #scanner: LiteralScanner;
  /** The candidate patterns of each literal. */
  readonly #byLiteral = new Map<number, IndexedPattern[]>();
  readonly #unconditional: PatternRef[] = [];

  constructor(catalogue: Catalogue, field: TextField | "dom") {
    const numbers = new Map<string, number>();
    const getNumber = (literal: string) => {
      const number = numbers.get(literal) ?? numbers.size;
      numbers.set(literal, number);
      return number;
    };
    for (const technology of catalogue.technologies) {
      getLiteralGroups(technology, field).forEach((groups, index) => {
        const [first = [], ...others] = groups.map((group) => group.map(getNumber));
        const indexed = { technology, index, first, others };
        if (first.length === 0) this.#unconditional.push(indexed);
        for (const number of first) {
          const patterns = this.#byLiteral.get(number) ?? [];
          this.#byLiteral.set(number, patterns);
          patterns.push(indexed);
        }
      });
    }
    this.#scanner = new LiteralScanner([...numbers.keys()]);
  }

  /** @returns each candidate once, in no particular order */
  findCandidates(text: SliceableText): Candidate[] {
    const found = this.#scanner.scan(text);
    const candidates = new Set<IndexedPattern>();
    for (const number of found.keys()) {
      for (const indexed of this.#byLiteral.get(number) ?? []) {
        if (indexed.others.every((group) => group.some((number) => found.has(number))))
          candidates.add(indexed);
      }
    }
    const located = [...candidates].map(({ technology, index, first }): Candidate => {
      const positions = first.flatMap((number) => found.get(number) ?? []);
      return { technology, index, positions };
    });
    return [...this.#unconditional, ...located];
  }
}
