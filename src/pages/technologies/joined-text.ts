/** A text that is read in pieces: a string, or several strings in a row. */
export type SliceableText = { readonly length: number; slice(start: number, end: number): string };

/**
 * Texts with a line feed between them, like `join("\n")`. A slice joins only the parts that it needs, because a copy of
 * all scripts of a page takes a tenth of the time of detection.
 */
export class JoinedText implements SliceableText {
  readonly length: number;
  readonly #parts: readonly string[];
  /** The position of each part. */
  readonly #starts: number[] = [];

  constructor(parts: readonly string[]) {
    this.#parts = parts;
    let end = -1;
    for (const part of parts) {
      this.#starts.push(end + 1);
      end += 1 + part.length;
    }
    this.length = Math.max(0, end);
  }

  /** @param start not negative */
  slice(start: number, end: number): string {
    const first = this.#indexAt(start);
    let joined = (this.#parts[first] ?? "").slice(
      start - this.#startOf(first),
      Math.max(0, end - this.#startOf(first)),
    );
    for (let index = first + 1; index < this.#parts.length && this.#startOf(index) <= end; index++)
      joined += `\n${(this.#parts[index] ?? "").slice(0, end - this.#startOf(index))}`;
    return joined;
  }

  toString(): string {
    return this.#parts.join("\n");
  }

  #startOf(index: number): number {
    return this.#starts[index] ?? 0;
  }

  /** The index of the last part that starts at or before a position, by binary search. */
  #indexAt(position: number): number {
    let [low, high] = [0, this.#parts.length - 1];
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if (this.#startOf(middle) <= position) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}
