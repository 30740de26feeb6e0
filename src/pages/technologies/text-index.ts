import { type Catalogue, literalGroups, type Technology, type TextField } from "./catalogue.ts";
import { LiteralScanner } from "./literal-scanner.ts";

/** A pattern of a text field, or a selector, by its place in its technology. */
export type Candidate = { readonly technology: Technology; readonly index: number };

type Indexed = Candidate & { readonly groups: readonly (readonly string[])[] };

/**
 * Says which patterns of one field could match a text, by the literals that they need: only these have to be tried.
 * None that could match is left out.
 */
export class TextIndex {
  readonly #scanner: LiteralScanner;
  /** For each literal of the scanner, the patterns that it makes candidates. */
  readonly #byLiteral: Indexed[][] = [];
  readonly #always: Indexed[] = [];

  constructor(catalogue: Catalogue, field: TextField | "dom") {
    const ids = new Map<string, number>();
    for (const technology of catalogue.technologies) {
      literalGroups(technology, field).forEach((groups, index) => {
        const [first, ...others] = groups;
        const indexed = { technology, index, groups: others };
        if (first === undefined) this.#always.push(indexed);
        for (const literal of first ?? []) {
          const id = ids.get(literal) ?? ids.size;
          ids.set(literal, id);
          const patterns = this.#byLiteral[id] ?? [];
          this.#byLiteral[id] = patterns;
          patterns.push(indexed);
        }
      });
    }
    this.#scanner = new LiteralScanner([...ids.keys()]);
  }

  /** @returns each candidate once, in no particular order */
  candidates(text: string): Candidate[] {
    const folded = text.toLowerCase();
    const found = new Set(this.#always);
    for (const id of this.#scanner.scan(folded)) {
      for (const indexed of this.#byLiteral[id] ?? []) {
        if (!found.has(indexed) && hasEachGroup(folded, indexed.groups)) found.add(indexed);
      }
    }
    return [...found];
  }
}

function hasEachGroup(folded: string, groups: readonly (readonly string[])[]): boolean {
  return groups.every((group) => group.some((literal) => folded.includes(literal)));
}
