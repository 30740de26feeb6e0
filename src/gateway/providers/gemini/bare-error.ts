import { type JsonObject, parseObject } from "../../../core/encoding/json.ts";
import { JsonObjectScanner } from "../answers/json-object-scanner.ts";

const LINE_WITH_BRACE = /[\r\n]\{/;

/** The longest error object that is read, in characters. */
const MAX_ERROR_CHARS = 64 * 1024;

/**
 * Finds an error object that stands in an event stream without `data:`. Google writes errors in this form. The object
 * begins at the beginning of a line, where events have the name of a field.
 */
export class BareErrorReader {
  #isAtLineStart = true;
  /** The object whose end has not come. */
  #open: { readonly scanner: JsonObjectScanner; text: string } | null = null;

  /** Reads the next piece of the stream. Returns the object with an `error` that ends in it. Null: there is none. */
  push(piece: string): JsonObject | null {
    let rest = piece;
    while (rest !== "") {
      if (this.#open === null) {
        const starts = this.#isAtLineStart && rest.startsWith("{");
        const start = starts ? 0 : rest.search(LINE_WITH_BRACE) + 1;
        if (start === 0 && !starts) {
          this.#isAtLineStart = rest.endsWith("\n") || rest.endsWith("\r");
          return null;
        }
        this.#open = { scanner: new JsonObjectScanner(), text: "" };
        rest = rest.slice(start);
      }
      // Only a bracket can end the object.
      const end = rest.indexOf("}") + 1 || rest.length;
      const object = this.#append(rest.slice(0, end));
      if (object !== null) return object;
      rest = rest.slice(end);
    }
    return null;
  }

  #append(piece: string): JsonObject | null {
    const open = this.#open;
    if (open === null) return null;
    open.scanner.push(piece);
    open.text += piece;
    if (!open.scanner.complete && open.text.length <= MAX_ERROR_CHARS) return null;
    this.#open = null;
    this.#isAtLineStart = false;
    const object = open.scanner.complete ? parseObject(open.text) : {};
    return object["error"] == null ? null : object;
  }
}
