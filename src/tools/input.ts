/**
 * The text that is still being read: a short unread tail, an index into it, and, while something may have to be given
 * back, a record of what was read. Nothing is copied twice, so that any number of pieces costs linear time.
 */
export class Input {
  text = "";
  at = 0;
  /** No more text will follow. */
  final = false;
  /** It did not end by itself: what is missing at its end was not left out by the model, and is not to be put there. */
  cut = false;
  #dropped = 0;
  #record: { text: string; from: number } | undefined;

  /** Position of `at` in the whole text. */
  get offset(): number {
    return this.#dropped + this.at;
  }

  get done(): boolean {
    return this.at >= this.text.length;
  }

  /** How much was read since `mark`. */
  get recorded(): number {
    return this.#record ? this.#record.text.length + this.at - this.#record.from : 0;
  }

  append(piece: string): void {
    if (this.#record) {
      this.#record.text += this.text.slice(this.#record.from, this.at);
      this.#record.from = 0;
    }
    this.#dropped += this.at;
    this.text = this.done ? piece : this.text.slice(this.at) + piece;
    this.at = 0;
  }

  /** Begins to record at the present place. */
  mark(): void {
    this.#record = { text: "", from: this.at };
  }

  /** Ends the record and returns it. */
  release(): string {
    const record = this.#record;
    this.#record = undefined;
    return record ? record.text + this.text.slice(record.from, this.at) : "";
  }

  /** Ends the record and goes back to where it began. */
  rewind(): void {
    this.unread(this.release());
  }

  /** Goes back behind `raw`, which was read last. */
  unread(raw: string): void {
    if (raw.length <= this.at) {
      this.at -= raw.length;
      return;
    }
    this.#dropped = this.offset - raw.length;
    this.text = raw + this.text.slice(this.at);
    this.at = 0;
  }
}
