import { type Catalogue, literalGroups, type Technology, type TextField } from "./catalogue.ts";
import { LiteralScanner } from "./literal-scanner.ts";

/** A pattern of a text field, or a selector, by its place in its technology. */
export type Candidate = { readonly technology: Technology; readonly index: number };

/** A candidate with the numbers of further literals, of each group of which one must occur. */
type Indexed = Candidate & { readonly groups: readonly (readonly number[])[] };

/**
 * Says which patterns of one field could match a text, by the literals that they need: only these have to be tried.
 * None that could match is left out.
 */
export class TextIndex {
  readonly #scanner: LiteralScanner;
  /** For each literal, the patterns that it makes candidates. */
  readonly #byLiteral = new Map<number, Indexed[]>();
  readonly #always: Indexed[] = [];

  constructor(catalogue: Catalogue, field: TextField | "dom") {
    const numbers = new Map<string, number>();
    const numberOf = (literal: string) => {
      const number = numbers.get(literal) ?? numbers.size;
      numbers.set(literal, number);
      return number;
    };
    for (const technology of catalogue.technologies) {
      literalGroups(technology, field).forEach((groups, index) => {
        const [first, ...others] = groups.map((group) => group.map(numberOf));
        const indexed = { technology, index, groups: others };
        if (first === undefined) this.#always.push(indexed);
        for (const number of first ?? []) {
          const patterns = this.#byLiteral.get(number) ?? [];
          this.#byLiteral.set(number, patterns);
          patterns.push(indexed);
        }
      });
    }
    this.#scanner = new LiteralScanner([...numbers.keys()]);
  }

  /** @returns each candidate once, in no particular order */
  candidates(text: string): Candidate[] {
    const candidates = new Set(this.#always);
    for (const number of this.#scanner.scan(text)) {
      for (const indexed of this.#byLiteral.get(number) ?? []) {
        if (indexed.groups.every((group) => group.some((other) => this.#scanner.found(other)))) {
          candidates.add(indexed);
        }
      }
    }
    return [...candidates];
  }
}
