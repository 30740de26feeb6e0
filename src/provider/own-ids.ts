/** Gives each call of a request an id of its own, as most protocols demand: what is written twice gets a number. */
export class OwnIds {
  readonly #used = new Set<string>();
  /** The number that comes next behind an id that is used. */
  readonly #numbers = new Map<string, number>();

  /**
   * The id that a call is sent with.
   *
   * @param written what the caller calls it, as the protocol can write it.
   * @param base what a number is put behind.
   */
  take(written: string, base = written): string {
    let own = written;
    if (this.#used.has(own)) {
      let n = this.#numbers.get(base) ?? this.#used.size;
      do {
        own = `${base}_${n}`;
        n += 1;
      } while (this.#used.has(own));
      // Ids that others have taken are passed over once.
      this.#numbers.set(base, n);
    }
    this.#used.add(own);
    return own;
  }
}
