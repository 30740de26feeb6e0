import { hits, section } from "./text-bytes.ts";

/** Bytes of a gram. */
export const GRAM_BYTES = 4;
/**
 * An entry consists of a gram, its literal's number, its offset in the literal, and the
 * position of the list's previous entry.
 */
const ENTRY_SIZE = 4;
const EVERY_BYTE = [...Array(256).keys()];

/**
 * A hash table of grams (four consecutive bytes) of literals. Finds them in a text, ignoring ASCII case. A filter of 32
 * KB, which stays in the processor's nearest cache, rejects nearly all grams of a text.
 */
export class GramTable {
  /** A bit for each value of the highest 18 bits of a hash: 1 if a gram has this hash. */
  readonly #filter = new Int32Array(1 << 13);
  /** By the highest 14 bits of a hash: the position of the latest entry; 0 if there is none. */
  readonly #latestEntry = new Int32Array(1 << 14);
  /** Each entry consists of {@link ENTRY_SIZE} numbers; there is none at position 0. */
  #entries = new Int32Array(1 << 12);
  #end = ENTRY_SIZE;

  /**
   * Adds the gram of a literal at an offset. Its first byte may lie before the literal, or its last byte after it: then
   * it adds a gram for every value of that byte.
   *
   * @param number the literal's number
   */
  add(literal: string, number: number, offset: number): void {
    let grams = [0];
    for (let i = GRAM_BYTES - 1; i >= 0; i--) {
      const code = literal.charCodeAt(offset + i);
      const values = Number.isNaN(code) ? EVERY_BYTE : [code];
      grams = grams.flatMap((gram) => values.map((value) => (gram << 8) | value));
    }
    for (const gram of new Set(grams.map(foldCase))) {
      const hash = hashGram(gram);
      this.#filter[hash >>> 19] = (this.#filter[hash >>> 19] ?? 0) | (1 << (hash >>> 14));
      this.#addEntry(hash >>> 18, gram, number, offset);
    }
  }

  #addEntry(list: number, gram: number, number: number, offset: number): void {
    if (this.#end === this.#entries.length) {
      const larger = new Int32Array(this.#end * 2);
      larger.set(this.#entries);
      this.#entries = larger;
    }
    this.#entries.set([gram, number, offset, this.#latestEntry[list] ?? 0], this.#end);
    this.#latestEntry[list] = this.#end;
    this.#end += ENTRY_SIZE;
  }

  /**
   * Looks at every position of the section that is a multiple of `step`. Writes those where a gram of the table may be into
   * {@link hits}.
   *
   * @returns their number
   */
  findHits(step: number, end: number): number {
    return findHits(this.#filter, step, end);
  }

  /** The first entry for the gram at a position of the section; 0 if there is none. */
  first(position: number): number {
    const gram = foldCase(section.getInt32(position, true));
    return this.#withGram(this.#latestEntry[hashGram(gram) >>> 18] ?? 0, gram);
  }

  /** The next such entry; 0 if there is none. */
  next(entry: number): number {
    return this.#withGram(this.#entries[entry + 3] ?? 0, this.#entries[entry] ?? 0);
  }

  #withGram(entry: number, gram: number): number {
    let current = entry;
    while (current !== 0 && this.#entries[current] !== gram) current = this.#entries[current + 3] ?? 0;
    return current;
  }

  /** The number of the entry's literal. */
  literal(entry: number): number {
    return this.#entries[entry + 1] ?? 0;
  }

  /** The offset of the gram in its literal. */
  offset(entry: number): number {
    return this.#entries[entry + 2] ?? 0;
  }
}

/**
 * Writes each position, and overwrites it with the next one unless it is a hit. This avoids a branch: its
 * mispredictions would cost more than everything else.
 */
function findHits(filter: Int32Array, step: number, end: number): number {
  let found = 0;
  for (let position = 0; position < end; position += step) {
    hits[found] = position;
    const hash = hashGram(foldCase(section.getInt32(position, true)));
    // A shift uses the lowest five bits of its right side: the hash's bits 14 to 18 select a bit of the word.
    found += ((filter[hash >>> 19] ?? 0) >>> (hash >>> 14)) & 1;
  }
  return found;
}

/** A gram as a little-endian word: the first byte is the lowest. */
export function readGram(text: string, offset: number): number {
  return (
    text.charCodeAt(offset) |
    (text.charCodeAt(offset + 1) << 8) |
    (text.charCodeAt(offset + 2) << 16) |
    (text.charCodeAt(offset + 3) << 24)
  );
}

// The numbers are inside these functions, because bundlers turn constants of a module into variables: code that reads
// variables in its innermost loop takes a fifth longer.

/** Folds the case of ASCII letters in all four bytes. It also makes other bytes equal, which only costs a comparison. */
function foldCase(gram: number): number {
  return gram | 0x20202020;
}

/** Multiplicative hashing: the highest bits of the product depend on all bits of the gram. */
function hashGram(gram: number): number {
  return Math.imul(gram, 0x9e3779b1);
}
