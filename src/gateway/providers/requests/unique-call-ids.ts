/** Gives each tool call of a request a unique id, as most protocols require. Duplicate ids get a number as suffix. */
export class UniqueCallIds {
  readonly #used = new Set<string>();
  /** The next number to append to a used id. */
  readonly #numbers = new Map<string, number>();

  /**
   * Returns the id to send for a call.
   *
   * @param written the caller's id, in characters that the protocol allows.
   * @param base the text before the number.
   */
  assign(written: string, base = written): string {
    let uniqueId = written;
    if (this.#used.has(uniqueId)) {
      let n = this.#numbers.get(base) ?? this.#used.size;
      do {
        uniqueId = `${base}_${n}`;
        n += 1;
      } while (this.#used.has(uniqueId));
      // Continue after this number next time, so that used ids are tested only once.
      this.#numbers.set(base, n);
    }
    this.#used.add(uniqueId);
    return uniqueId;
  }
}
