import { concatBytes } from "../../core/encoding/bytes.ts";

/** Longest answer that is held, in bytes. */
const MAX_HELD_BYTES = 64 * 1024;

/** Holds a short JSON answer until its end, so that its headers can state its cost. */
export class HeldBytes {
  #pieces: Uint8Array[] = [];
  #size = 0;

  /**
   * Keeps the next bytes. Returns false if the answer became too long:
   * {@link release} then returns the bytes that were held.
   */
  hold(bytes: Uint8Array): boolean {
    if (this.#size + bytes.length > MAX_HELD_BYTES) return false;
    this.#pieces.push(bytes);
    this.#size += bytes.length;
    return true;
  }

  /** Returns all bytes that are still held. */
  release(): Uint8Array<ArrayBuffer> {
    const held = concatBytes(this.#pieces);
    this.#pieces = [];
    return held;
  }
}
