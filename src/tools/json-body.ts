import { nextMarked, OPENER } from "./characters.ts";
import { closes, TAG_LIMIT } from "./grammar.ts";
import type { Input } from "./input.ts";
import { argumentsSource } from "./literals.ts";
import { readTag } from "./tags.ts";

/** Most end tags that are read as part of a string before the body is rejected. */
const MAX_ENDS = 4;

/** The body of an invoke that is one JSON object instead of parameters. */
export class JsonBody {
  readonly #declared: ReadonlySet<string>;
  #text = "";
  #ends = 0;
  /** Only white space followed an end tag that did not complete the JSON. */
  #idle = false;

  /** @param declared Names of the tool's own parameters. */
  constructor(declared: ReadonlySet<string>) {
    this.#declared = declared;
  }

  /**
   * Reads more input. Returns the arguments' JSON once the end tag is read, `open` to get more input, `refused` if the body
   * is not such an object.
   */
  read(input: Input): { source: string } | "open" | "refused" {
    for (;;) {
      const at = nextMarked(input.text, input.at, OPENER);
      this.#add(input, at);
      if (input.done) return input.final ? "refused" : "open";
      const tag = readTag(input.text, at, TAG_LIMIT, input.final);
      if (tag === "partial") return "open";
      if (tag === "none") {
        this.#add(input, at + 1);
        continue;
      }
      if (tag.kind === "tool_calls" && (!tag.close || this.#idle)) return "refused";
      if (!closes(tag, "invoke")) {
        this.#add(input, tag.end);
        continue;
      }
      const source = argumentsSource(this.#text, this.#declared);
      if (source === undefined && ++this.#ends > MAX_ENDS) return "refused";
      this.#add(input, tag.end);
      if (source !== undefined) return { source };
      this.#idle = true;
    }
  }

  #add(input: Input, to: number): void {
    const piece = input.text.slice(input.at, to);
    this.#text += piece;
    this.#idle &&= piece.trim() === "";
    input.at = to;
  }
}
