import { isJson } from "../tools/literals.ts";

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const SPACE = /[^ \t\n\r]/;

/**
 * Tells when a text that comes in pieces is one whole JSON object. Each piece is read once, and the whole once more when its
 * last bracket closes: an object in small pieces costs linear time.
 */
export class ObjectText {
  /** `closed`: the brackets are; whether it is JSON is known as well. `broken`: it will never be an object. */
  #state: "before" | "open" | "closed" | "broken" = "before";
  #text = "";
  #depth = 0;
  #quoted = false;
  #escaped = false;

  /** Whether the text so far is a JSON object, with white space around it or not. */
  get complete(): boolean {
    return this.#state === "closed";
  }

  push(piece: string): void {
    let at = 0;
    if (this.#state === "before") {
      at = piece.search(SPACE);
      if (at === -1) return;
      this.#state = piece[at] === "{" ? "open" : "broken";
    }
    if (this.#state === "open") {
      const end = this.#read(piece, at);
      this.#text += piece.slice(at, end);
      if (this.#depth > 0) return;
      this.#state = isJson(this.#text) ? "closed" : "broken";
      this.#text = "";
      at = end;
    }
    if (this.#state === "closed" && SPACE.test(piece.slice(at))) this.#state = "broken";
  }

  /** Follows brackets and strings from `at`; returns the index behind the bracket that closes the object, or the end. */
  #read(piece: string, at: number): number {
    for (let index = at; index < piece.length; index += 1) {
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
