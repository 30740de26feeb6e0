/** The connection ended in the middle of a read. */
export class UnexpectedEnd extends Error {
  override readonly name = "UnexpectedEnd";
}

/** The input is longer than the limit. */
class TooLong extends Error {
  override readonly name = "TooLong";
}

const NEWLINE = 10;
const NOTHING = new Uint8Array();

/** Reads a byte stream by line, by byte count, or in the pieces that arrive. */
export class ByteReader {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>>;
  #buffer: Uint8Array<ArrayBuffer> = NOTHING;

  constructor(stream: ReadableStream<Uint8Array<ArrayBuffer>>) {
    this.#reader = stream.getReader();
  }

  /** Returns the next bytes, at most `limit` of them. Null at the end. */
  async some(limit: number): Promise<Uint8Array<ArrayBuffer> | null> {
    while (this.#buffer.length === 0) if (!(await this.#fill())) return null;
    const bytes = this.#buffer.subarray(0, limit);
    this.#buffer = this.#buffer.subarray(bytes.length);
    return bytes;
  }

  /** Returns exactly `count` bytes. Throws `UnexpectedEnd`. */
  async exactly(count: number): Promise<Uint8Array<ArrayBuffer>> {
    const bytes = new Uint8Array(count);
    for (let size = 0; size < count; ) {
      const part = await this.some(count - size);
      if (part === null) throw new UnexpectedEnd("the connection ended too early");
      bytes.set(part, size);
      size += part.length;
    }
    return bytes;
  }

  /**
   * Returns one line as Latin-1, without its line break (LF or CRLF). Throws `UnexpectedEnd`, and `TooLong` above
   * `limit` bytes.
   */
  async line(limit: number): Promise<string> {
    let line = "";
    for (;;) {
      const end = this.#buffer.indexOf(NEWLINE);
      const part = end === -1 ? this.#buffer : this.#buffer.subarray(0, end);
      if (line.length + part.length > limit) throw new TooLong(`a line is longer than ${limit} bytes`);
      for (const byte of part) line += String.fromCharCode(byte);
      if (end !== -1) {
        this.#buffer = this.#buffer.subarray(end + 1);
        return line.endsWith("\r") ? line.slice(0, -1) : line;
      }
      this.#buffer = NOTHING;
      if (!(await this.#fill())) throw new UnexpectedEnd("the connection ended within a line");
    }
  }

  /** Releases the stream. Throws if unread bytes are in the buffer, because they would be lost. */
  release(): void {
    if (this.#buffer.length > 0) throw new TooLong("there is more than was expected");
    this.#reader.releaseLock();
  }

  async #fill(): Promise<boolean> {
    const { done, value } = await this.#reader.read();
    if (done) return false;
    this.#buffer = value;
    return true;
  }
}
