/** Writes bits, the highest first, into bytes; a byte of ones is followed by one of zeros (ITU T.81, F.1.2.3). */
export class BitWriter {
  #bytes: Uint8Array<ArrayBuffer>;
  #length = 0;
  #held = 0;
  #heldBits = 0;

  /** @param expected bytes that are likely to be written */
  constructor(expected: number) {
    this.#bytes = new Uint8Array(Math.max(64, expected));
  }

  /** @param count at most 16 */
  write(bits: number, count: number): void {
    this.#held = (this.#held << count) | bits;
    this.#heldBits += count;
    while (this.#heldBits >= 8) {
      this.#heldBits -= 8;
      this.#push((this.#held >>> this.#heldBits) & 255);
    }
    this.#held &= (1 << this.#heldBits) - 1;
  }

  /** What was written; the last byte is filled up with ones. */
  end(): Uint8Array<ArrayBuffer> {
    if (this.#heldBits > 0) this.write(255 >> this.#heldBits, 8 - this.#heldBits);
    return this.#bytes.subarray(0, this.#length);
  }

  #push(byte: number): void {
    if (this.#length + 2 > this.#bytes.length) {
      const larger = new Uint8Array(this.#bytes.length * 2);
      larger.set(this.#bytes);
      this.#bytes = larger;
    }
    this.#bytes[this.#length++] = byte;
    if (byte === 255) this.#bytes[this.#length++] = 0;
  }
}
