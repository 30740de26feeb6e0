/**
 * The input buffer: a short unread tail, an index into it, and, while input may have to be restored, a record of the text
 * read. Nothing is copied twice, so any number of pieces takes linear time.
 */
export class InputBuffer {
  text = "";
  at = 0;
  /** Whether no more text will follow. */
  isFinal = false;
  /** Whether the text was cut off. Missing tags at its end were then not left out by the model, and must not be assumed. */
  isCut = false;
  #dropped = 0;
  #record: { text: string; from: number } | undefined;

  /** Offset of `at` in the whole text. */
  get offset(): number {
    return this.#dropped + this.at;
  }

  get isConsumed(): boolean {
    return this.at >= this.text.length;
  }

  /** Length of the text read since `startRecording`. */
  get recordedLength(): number {
    return this.#record ? this.#record.text.length + this.at - this.#record.from : 0;
  }

  append(piece: string): void {
    if (this.#record) {
      this.#record.text += this.text.slice(this.#record.from, this.at);
      this.#record.from = 0;
    }
    this.#dropped += this.at;
    this.text = this.isConsumed ? piece : this.text.slice(this.at) + piece;
    this.at = 0;
  }

  /** Starts the record at the current position. */
  startRecording(): void {
    this.#record = { text: "", from: this.at };
  }

  /** Ends the record and returns its text. */
  endRecording(): string {
    const record = this.#record;
    this.#record = undefined;
    return record ? record.text + this.text.slice(record.from, this.at) : "";
  }

  /** Ends the record and returns to its start. */
  rewind(): void {
    this.putBack(this.endRecording());
  }

  /** Puts back `raw`, the text that was read last. */
  putBack(raw: string): void {
    if (raw.length <= this.at) {
      this.at -= raw.length;
      return;
    }
    this.#dropped = this.offset - raw.length;
    this.text = raw + this.text.slice(this.at);
    this.at = 0;
  }
}
