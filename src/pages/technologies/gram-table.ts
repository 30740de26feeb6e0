import { hits, section } from "./text-bytes.ts";

/** Bytes of a gram. */
export const GRAM_BYTES = 4;
/** Bits of a gram's hash. */
const HASH_BITS = 16;
/** 2^SHARED_BITS hashes share a list of entries, to keep the table small; the lists are read rarely. */
const SHARED_BITS = 2;
const EVERY_BYTE = [...Array(256).keys()];

/** A hash table of grams (four consecutive bytes) of literals. Finds them in a text, ignoring ASCII case. */
export class GramTable {
  /** 1 for each hash that a gram has, otherwise 0. */
  readonly #filter = new DataView(new ArrayBuffer(1 << HASH_BITS));
  /** The latest entry of each list; 0 if there is none. */
  readonly #latestEntry = new Int32Array(1 << (HASH_BITS - SHARED_BITS));
  /** By entry, starting at 1: the previous entry of the list, */
  readonly #previousEntry = [0];
  /** the gram, */
  readonly #grams = [0];
  /** the number of its literal, and below the offset of the gram in the literal. */
  readonly #literals = [0];
  readonly #offsets = [0];

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
      this.#filter.setUint8(hash, 1);
      this.#previousEntry.push(this.#latestEntry[hash >>> SHARED_BITS] ?? 0);
      this.#latestEntry[hash >>> SHARED_BITS] = this.#grams.push(gram) - 1;
      this.#literals.push(number);
      this.#offsets.push(offset);
    }
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
    return this.#withGram(this.#latestEntry[hashGram(gram) >>> SHARED_BITS] ?? 0, gram);
  }

  /** The next such entry; 0 if there is none. */
  next(entry: number): number {
    return this.#withGram(this.#previousEntry[entry] ?? 0, this.#grams[entry] ?? 0);
  }

  #withGram(entry: number, gram: number): number {
    let current = entry;
    while (current !== 0 && this.#grams[current] !== gram) current = this.#previousEntry[current] ?? 0;
    return current;
  }

  /** The number of the entry's literal. */
  literal(entry: number): number {
    return this.#literals[entry] ?? 0;
  }

  /** The offset of the gram in its literal. */
  offset(entry: number): number {
    return this.#offsets[entry] ?? 0;
  }
}

/**
 * Writes each position, and overwrites it with the next one unless it is a hit. This avoids a branch: its
 * mispredictions would cost more than everything else.
 */
function findHits(filter: DataView, step: number, end: number): number {
  let found = 0;
  for (let position = 0; position < end; position += step) {
    hits[found] = position;
    found += filter.getUint8(hashGram(foldCase(section.getInt32(position, true))));
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

/** Multiplicative hashing: the upper {@link HASH_BITS} bits of the product. */
function hashGram(gram: number): number {
  return Math.imul(gram, 0x9e3779b1) >>> (32 - 16);
}
