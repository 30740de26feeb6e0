/** Characters of a text that are looked at together; their bytes fit into a processor's nearest caches. */
const MOST = 16_384;
/** UTF-8 has at most as many bytes for each UTF-16 code unit. */
const BYTES_PER_UNIT = 3;
/** A window of four bytes may reach beyond the text. */
const PADDING = 8;

const encoder = new TextEncoder();
/** The highest bit of each byte of a word. */
const NOT_ASCII = 0x80808080 | 0;

/**
 * The bytes of the stretch that is loaded. Constants of the module, not fields: engines read arrays that they know twice as fast as others.
 */
const bytes = new Uint8Array(MOST * BYTES_PER_UNIT + PADDING);
/** The same bytes, four in each; beyond the stretch they are anything. */
export const words = new Int32Array(bytes.buffer);
/** Room for a list of words. */
export const hits = new Int32Array(words.length);

/**
 * A stretch of a text as bytes (UTF-8) in {@link words}, which are read four at a time: much faster than characters one by one. There is one
 * at a time, for nobody waits while a text is scanned.
 */
export class TextBytes {
  /** How many bytes the stretch has, */
  length = 0;
  /** and where in the text it starts and ends, in UTF-16 code units. */
  start = 0;
  end = 0;
  #isAscii = true;
  /** A byte, and the unit of the text that it belongs to: others are counted from there. */
  #knownByte = 0;
  #knownUnit = 0;

  /** Takes the stretch of a text that starts at a position. */
  load(text: string, start: number): void {
    const { read, written } = encoder.encodeInto(text.slice(start, start + MOST), bytes);
    this.length = written;
    this.start = start;
    this.end = start + read;
    this.#isAscii = read === written;
    this.#knownByte = 0;
    this.#knownUnit = start;
  }

  /** The position in the text, in UTF-16 code units, of the character that starts at a byte. Cheap for bytes near the last one asked for. */
  unitAt(byte: number): number {
    if (this.#isAscii) return this.start + byte;
    const units = this.#unitsBetween(Math.min(byte, this.#knownByte), Math.max(byte, this.#knownByte));
    this.#knownUnit += byte < this.#knownByte ? -units : units;
    this.#knownByte = byte;
    return this.#knownUnit;
  }

  /** Whether a literal without upper case stands at a byte, without regard to ASCII case. */
  has(literal: string, start: number): boolean {
    if (start < 0 || start + literal.length > this.length) return false;
    for (let i = 0; i < literal.length; i++) {
      const byte = bytes[start + i] ?? 0;
      if ((byte >= 65 && byte <= 90 ? byte + 32 : byte) !== literal.charCodeAt(i)) return false;
    }
    return true;
  }

  #unitsBetween(from: number, to: number): number {
    let units = 0;
    for (let at = from; at < to; at++) {
      // Most are ASCII: four of them at once.
      while (at % 4 === 0 && at + 4 <= to && ((words[at / 4] ?? 0) & NOT_ASCII) === 0) {
        units += 4;
        at += 4;
      }
      if (at === to) break;
      const byte = bytes[at] ?? 0;
      // Each character has one first byte; one of four bytes is two units.
      if ((byte & 0xc0) !== 0x80) units += byte >= 0xf0 ? 2 : 1;
    }
    return units;
  }
}
