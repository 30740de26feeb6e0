import { concatBytes } from "./bytes.ts";

/** Size of the first block for small pieces, in bytes. */
const FIRST_BLOCK = 256;
/** Size of the largest block for small pieces: that of the buffer into which Deno reads each piece. */
const LAST_BLOCK = 64 * 1024;
/** A piece is kept as it is if its buffer is at most this many times as large. */
const MAX_BUFFER_RATIO = 4;

/**
 * Collects bytes that arrive in pieces. Copies small pieces into common blocks, because on Deno each piece of a body has a
 * buffer of 64 KiB, however few bytes it has.
 */
export class ByteCollector {
  #pieces: Uint8Array[] = [];
  /** The last piece is the beginning of this block. Null: small pieces need a new one. */
  #block: Uint8Array | null = null;
  #length = 0;

  /** Number of collected bytes. */
  get length(): number {
    return this.#length;
  }

  /** Adds bytes. They must not change afterwards. */
  push(bytes: Uint8Array): void {
    this.#length += bytes.length;
    if (bytes.length >= FIRST_BLOCK && bytes.buffer.byteLength <= MAX_BUFFER_RATIO * bytes.length) {
      this.#pieces.push(bytes);
      this.#block = null;
      return;
    }
    for (let rest = bytes; rest.length > 0; ) {
      const block = this.#block;
      const used = block === null ? 0 : (this.#pieces.at(-1)?.length ?? 0);
      if (block === null || used === block.length) {
        const size = Math.min(LAST_BLOCK, Math.max(FIRST_BLOCK, 2 * (block?.length ?? 0)));
        this.#block = new Uint8Array(size);
        this.#pieces.push(this.#block.subarray(0, 0));
        continue;
      }
      const copied = rest.subarray(0, block.length - used);
      block.set(copied, used);
      this.#pieces[this.#pieces.length - 1] = block.subarray(0, used + copied.length);
      rest = rest.subarray(copied.length);
    }
  }

  /** The collected bytes, as they are now. */
  get pieces(): readonly Uint8Array[] {
    return this.#pieces;
  }

  /** Copies all collected bytes into one array. */
  join(): Uint8Array<ArrayBuffer> {
    return concatBytes(this.#pieces);
  }

  /** Removes and returns the collected bytes. */
  take(): Uint8Array[] {
    const pieces = this.#pieces;
    this.#pieces = [];
    this.#block = null;
    this.#length = 0;
    return pieces;
  }
}
