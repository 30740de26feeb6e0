import { findFlagged } from "./characters.ts";
import { isClosing, MAX_CALL_TAG_LENGTH } from "./grammar.ts";
import type { InputBuffer } from "./input-buffer.ts";
import { parseArguments } from "./literals.ts";
import { readTag } from "./tags.ts";
import { OPENER_FLAG } from "./units.ts";

/** Most end tags that are read as part of a string before the body is rejected. */
const MAX_ENDS = 4;

/** The body of an invoke that is one JSON object instead of parameters. */
export class JsonBody {
  readonly #declared: ReadonlySet<string>;
  #text = "";
  #unfitEndTags = 0;
  /** Only white space followed an end tag that did not complete the JSON. */
  #onlySpaceSinceEndTag = false;

  /** @param declaredNames Names of the tool's own parameters. */
  constructor(declaredNames: ReadonlySet<string>) {
    this.#declared = declaredNames;
  }

  /**
   * Reads more input. Returns the arguments' JSON once the end tag is read, `open` to get more input, `refused` if the body
   * is not such an object.
   */
  read(input: InputBuffer): { source: string } | "open" | "refused" {
    for (;;) {
      const at = findFlagged(input.text, input.at, OPENER_FLAG);
      this.#add(input, at);
      if (input.isConsumed) return input.isFinal ? "refused" : "open";
      const tag = readTag(input.text, at, MAX_CALL_TAG_LENGTH, input.isFinal);
      if (tag === "partial") return "open";
      if (tag === "none") {
        this.#add(input, at + 1);
        continue;
      }
      if (tag.kind === "tool_calls" && (!tag.isClosing || this.#onlySpaceSinceEndTag)) return "refused";
      if (!isClosing(tag, "invoke")) {
        this.#add(input, tag.end);
        continue;
      }
      const source = parseArguments(this.#text, this.#declared);
      if (source === undefined && ++this.#unfitEndTags > MAX_ENDS) return "refused";
      this.#add(input, tag.end);
      if (source !== undefined) return { source };
      this.#onlySpaceSinceEndTag = true;
    }
  }

  #add(input: InputBuffer, end: number): void {
    const piece = input.text.slice(input.at, end);
    this.#text += piece;
    this.#onlySpaceSinceEndTag &&= piece.trim() === "";
    input.at = end;
  }
}
