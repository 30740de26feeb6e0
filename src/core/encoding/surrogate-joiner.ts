/**
 * Joins a surrogate pair that is split between two pieces of a text. One half does not survive UTF-8, and strict JSON
 * parsers reject it.
 */
export class SurrogateJoiner {
  /** The first half of a pair whose second half has not arrived. */
  #half = "";

  /** Returns the text that is complete: a first half at the end waits for the next piece. */
  push(piece: string): string {
    const text = this.#half + piece;
    const last = text.charCodeAt(text.length - 1);
    const isSplit = last >= 0xd800 && last <= 0xdbff;
    this.#half = isSplit ? text.slice(-1) : "";
    return isSplit ? text.slice(0, -1) : text;
  }

  /** Returns a first half that no second half followed. */
  flush(): string {
    const half = this.#half;
    this.#half = "";
    return half;
  }
}
