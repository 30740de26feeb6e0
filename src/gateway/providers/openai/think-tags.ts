/** A piece of an answer. */
export interface TaggedPiece {
  readonly type: "text" | "reasoning";
  readonly text: string;
}

const OPEN = "<think>";
const CLOSE = "</think>";
/** Most white space before the first tag, in characters. It is held back. */
const MAX_SPACE_CHARS = 256;

/**
 * Separates the reasoning that a model writes between `<think>` tags at the very beginning of its text. Tags later in the
 * text are text. Reasoning without its closing tag lasts to the end.
 */
export class ThinkTagSplitter {
  #state: "start" | "opened" | "reasoning" | "closed" | "text" = "start";
  /** Text whose kind the next piece decides: white space and the beginning of a tag. */
  #held = "";
  /** Characters before the text: the reasoning with its tags and the white space around them. */
  #skippedChars = 0;

  /** The number of characters before the text; null: the text has not begun. */
  get textOffset(): number | null {
    return this.#state === "text" ? this.#skippedChars : null;
  }

  /** Stops looking for the first tag: the answer has begun with something else. Returns the held text. */
  skip(): TaggedPiece[] {
    return this.#state === "start" ? this.finish() : [];
  }

  /** Takes the next text of the answer. */
  push(text: string): TaggedPiece[] {
    if (this.#state === "text") return [{ type: "text", text }];
    const pieces: TaggedPiece[] = [];
    let rest = this.#held + text;
    this.#held = "";
    if (this.#state === "start") {
      const begun = rest.trimStart();
      if (begun.length < OPEN.length && OPEN.startsWith(begun) && rest.length <= MAX_SPACE_CHARS) {
        this.#held = rest;
        return [];
      }
      if (!begun.startsWith(OPEN)) {
        this.#state = "text";
        return [{ type: "text", text: rest }];
      }
      this.#state = "opened";
      this.#skippedChars = rest.length - begun.length + OPEN.length;
      rest = begun.slice(OPEN.length);
    }
    if (this.#state === "opened") {
      rest = this.#skipSpace(rest);
      if (rest === "") return [];
      this.#state = "reasoning";
    }
    if (this.#state === "reasoning") {
      const end = rest.indexOf(CLOSE);
      const shownEnd = end === -1 ? rest.length - endLength(rest) : end;
      if (shownEnd > 0) pieces.push({ type: "reasoning", text: rest.slice(0, shownEnd) });
      this.#skippedChars += shownEnd;
      if (end === -1) {
        this.#held = rest.slice(shownEnd);
        return pieces;
      }
      this.#state = "closed";
      this.#skippedChars += CLOSE.length;
      rest = rest.slice(end + CLOSE.length);
    }
    const begun = this.#skipSpace(rest);
    if (begun === "") return pieces;
    this.#state = "text";
    return [...pieces, { type: "text", text: begun }];
  }

  #skipSpace(text: string): string {
    const begun = text.trimStart();
    this.#skippedChars += text.length - begun.length;
    return begun;
  }

  /** Ends the answer. Returns the held text. */
  finish(): TaggedPiece[] {
    const text = this.#held;
    const type = this.#state === "reasoning" ? "reasoning" : "text";
    if (type === "reasoning") this.#skippedChars += text.length;
    this.#held = "";
    this.#state = "text";
    return text === "" ? [] : [{ type, text }];
  }
}

/** The length of the beginning of a closing tag at the end of a text. */
function endLength(text: string): number {
  for (let length = Math.min(CLOSE.length - 1, text.length); length > 0; length -= 1) {
    if (CLOSE.startsWith(text.slice(text.length - length))) return length;
  }
  return 0;
}
