import { ByteCollector } from "../../core/encoding/byte-collector.ts";
import { concatBytes } from "../../core/encoding/bytes.ts";

/** Longest answer that is held, in bytes. */
const MAX_HELD_BYTES = 64 * 1024;

/** Holds a short JSON answer until its end, so that its headers can state its cost. */
export class HeldBytes {
  readonly #bytes = new ByteCollector();

  /**
   * Keeps the next bytes. Returns false if the answer became too long:
   * {@link release} then returns the bytes that were held.
   */
  hold(bytes: Uint8Array): boolean {
    if (this.#bytes.length + bytes.length > MAX_HELD_BYTES) return false;
    this.#bytes.push(bytes);
    return true;
  }

  /** Returns all bytes that are still held. */
  release(): Uint8Array<ArrayBuffer> {
    return concatBytes(this.#bytes.take());
  }
}
