import { isJson } from "../../tools/literals.ts";

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const NON_SPACE = /[^ \t\n\r]/;

/**
 * Detects when a streamed text is one complete JSON object. Scans each piece once and parses the whole text once, at
 * its last bracket: an object in small pieces takes linear time.
 */
export class JsonObjectScanner {
  /** `closed`: all brackets are closed and the text is valid JSON. `broken`: the text can no longer become an object. */
  #state: "before" | "open" | "closed" | "broken" = "before";
  #text = "";
  #depth = 0;
  #quoted = false;
  #escaped = false;

  /** Whether the text so far is one JSON object, optionally surrounded by white space. */
  get complete(): boolean {
    return this.#state === "closed";
  }

  push(piece: string): void {
    let index = 0;
    if (this.#state === "before") {
      index = piece.search(NON_SPACE);
      if (index === -1) return;
      this.#state = piece[index] === "{" ? "open" : "broken";
    }
    if (this.#state === "open") {
      const end = this.#read(piece, index);
      this.#text += piece.slice(index, end);
      if (this.#depth > 0) return;
      this.#state = isJson(this.#text) ? "closed" : "broken";
      this.#text = "";
      index = end;
    }
    if (this.#state === "closed" && NON_SPACE.test(piece.slice(index))) this.#state = "broken";
  }

  /**
   * Tracks brackets and strings from `at`. Returns the index after the bracket that closes the object, or the end of
   * the piece.
   */
  #read(piece: string, start: number): number {
    for (let index = start; index < piece.length; index += 1) {
      const unit = piece.charCodeAt(index);
      if (this.#escaped) this.#escaped = false;
      else if (this.#quoted) {
        if (unit === QUOTE) this.#quoted = false;
        else if (unit === BACKSLASH) this.#escaped = true;
      } else if (unit === QUOTE) this.#quoted = true;
      else if (unit === 0x7b || unit === 0x5b) this.#depth += 1;
      else if (unit === 0x7d || unit === 0x5d) {
        this.#depth -= 1;
        if (this.#depth === 0) return index + 1;
      }
    }
    return piece.length;
  }
}
