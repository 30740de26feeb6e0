import type { SliceableText } from "./joined-text.ts";

/** Characters per section of a text; the section's bytes fit into the processor's nearest caches. */
const SECTION_UNITS = 16_384;
/** Maximum UTF-8 bytes per UTF-16 code unit. */
const BYTES_PER_UNIT = 3;
/** A window of four bytes may reach beyond the text. */
const PADDING = 8;

const encoder = new TextEncoder();
/** The highest bit of each byte of a word. */
const NOT_ASCII = 0x80808080 | 0;

/** The bytes of the loaded section. */
const bytes = new Uint8Array(SECTION_UNITS * BYTES_PER_UNIT + PADDING);
/** The same bytes, to read four at a time, from any position; beyond the section they have no meaning. */
export const section = new DataView(bytes.buffer);
/** Buffer for a list of positions in the section, at least two bytes apart. */
export const hits = new Int32Array(bytes.length / 2);

/**
 * A section of a text as UTF-8 bytes in {@link section}. Reading four bytes at a time is much faster than reading
 * characters. Only one section exists at a time: scanning is synchronous, so scans never overlap.
 */
export class TextSection {
  /** Number of bytes in the section. */
  length = 0;
  /** Start and end of the section in the text, in UTF-16 code units. */
  start = 0;
  end = 0;
  #isAscii = true;
  /** A byte and the code unit that it belongs to, as a starting point for counting. */
  #knownByte = 0;
  #knownUnit = 0;

  /** Loads the section of a text that starts at a position. */
  loadSection(text: SliceableText, start: number): void {
    const { read, written } = encoder.encodeInto(text.slice(start, start + SECTION_UNITS), bytes);
    this.length = written;
    this.start = start;
    this.end = start + read;
    this.#isAscii = read === written;
    this.#knownByte = 0;
    this.#knownUnit = start;
  }

  /**
   * The position in the text, in UTF-16 code units, of the character that starts at a byte. Fast for bytes near the
   * last one requested.
   */
  unitAt(byte: number): number {
    if (this.#isAscii) return this.start + byte;
    const units = this.#unitsBetween(Math.min(byte, this.#knownByte), Math.max(byte, this.#knownByte));
    this.#knownUnit += byte < this.#knownByte ? -units : units;
    this.#knownByte = byte;
    return this.#knownUnit;
  }

  /** Whether a lower-case literal is at a byte, ignoring ASCII case. */
  hasLiteralAt(literal: string, start: number): boolean {
    if (start < 0 || start + literal.length > this.length) return false;
    for (let i = 0; i < literal.length; i++) {
      const byte = bytes[start + i] ?? 0;
      if ((byte >= 65 && byte <= 90 ? byte + 32 : byte) !== literal.charCodeAt(i)) return false;
    }
    return true;
  }

  #unitsBetween(from: number, to: number): number {
    let units = 0;
    for (let index = from; index < to; index++) {
      // Most bytes are ASCII: count four of them at once.
      while (index % 4 === 0 && index + 4 <= to && (section.getInt32(index) & NOT_ASCII) === 0) {
        units += 4;
        index += 4;
      }
      if (index === to) break;
      const byte = bytes[index] ?? 0;
      // Each character has one first byte; a character of four bytes has two code units.
      if ((byte & 0xc0) !== 0x80) units += byte >= 0xf0 ? 2 : 1;
    }
    return units;
  }
}
