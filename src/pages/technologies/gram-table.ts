import { hitIndexes, words } from "./text-bytes.ts";

/** Bytes of a gram. */
export const GRAM_BYTES = 4;
/** Multiplier of the hash function (multiplicative hashing). */
const MULTIPLIER = 0x9e3779b1;
/** Folds the case of ASCII letters in all four bytes. It also makes other bytes equal, which only costs a comparison. */
const CASE_FOLD = 0x20202020;
/** Slots of the table per gram: more slots mean fewer collisions. */
const SLOTS_PER_GRAM = 32;
const MIN_BITS = 8;
const MAX_BITS = 17;
/** 2^SHARED_BITS hashes share a list of entries, to keep the table small; the lists are read rarely. */
const SHARED_BITS = 2;

/**
 * Masks of the bytes of a gram that belong to its literal, the first byte being the lowest: all, all but the last, or
 * all but the first.
 */
const ALL = -1;
const BUT_LAST = 0x00ffffff;
const BUT_FIRST = ~0xff;

/** A hash table of the grams (four consecutive bytes) of many literals. Finds them in a text, ignoring ASCII case. */
export class GramTable {
  /** Number of hash bits to drop. */
  readonly #shift: number;
  /** 1 for each hash that a gram has, otherwise 0. */
  readonly #isTaken: Uint8Array;
  /** The latest entry for each hash of a gram's known bytes; 0 if there is none. */
  readonly #latestEntry: Uint16Array;
  /** Lists by entry, starting at 1: the previous entry with the same hash, */
  readonly #previousEntry = [0];
  /** the number of its literal, and below the offset of the gram in the literal. */
  readonly #literals = [0];
  readonly #offsets = [0];
  readonly #masks = [0];
  /** The masks in use, of {@link ALL}, {@link BUT_LAST} and {@link BUT_FIRST}. */
  readonly masks: number[] = [];

  /** @param size approximate number of grams that will be added */
  constructor(size: number) {
    const bits = Math.max(MIN_BITS, Math.min(MAX_BITS, 32 - Math.clz32(size * SLOTS_PER_GRAM)));
    this.#shift = 32 - bits;
    this.#isTaken = new Uint8Array(1 << bits);
    this.#latestEntry = new Uint16Array(1 << (bits - SHARED_BITS));
  }

  /**
   * Adds the gram of a literal at an offset. Its first byte may lie before the literal, or its last byte after it.
   *
   * @param number the literal's number
   */
  add(literal: string, number: number, offset: number): void {
    const mask = offset < 0 ? BUT_FIRST : offset + GRAM_BYTES > literal.length ? BUT_LAST : ALL;
    if (!this.masks.includes(mask)) this.masks.push(mask);
    const knownBytes = readGram(literal, offset) & mask;
    // In a text, the unknown byte can have any value.
    for (let byte = 0; byte < (mask === ALL ? 1 : 256); byte++) {
      this.#isTaken[hashGram(knownBytes | (mask === BUT_LAST ? byte << 24 : byte), this.#shift)] = 1;
    }
    const hash = hashGram(knownBytes, this.#shift + SHARED_BITS);
    this.#previousEntry.push(this.#latestEntry[hash] ?? 0);
    this.#latestEntry[hash] = this.#literals.push(number) - 1;
    this.#offsets.push(offset);
    this.#masks.push(mask);
  }

  /** Writes the indexes of those of the first `count` words that may be grams into {@link hitIndexes}. @returns their number */
  findAligned(count: number): number {
    return findAligned(count, this.#isTaken, this.#shift);
  }

  /** The same for grams that start in the middle of a word. */
  findHalfway(count: number): number {
    return findHalfway(count, this.#isTaken, this.#shift);
  }

  /** The first entry for a gram whose bytes in `mask` are known; 0 if there is none. */
  first(gram: number, mask: number): number {
    return this.#withMask(this.#latestEntry[hashGram(gram & mask, this.#shift + SHARED_BITS)] ?? 0, mask);
  }

  /** The next such entry; 0 if there is none. */
  next(entry: number): number {
    return this.#withMask(this.#previousEntry[entry] ?? 0, this.#masks[entry] ?? 0);
  }

  #withMask(entry: number, mask: number): number {
    let current = entry;
    while (current !== 0 && this.#masks[current] !== mask) current = this.#previousEntry[current] ?? 0;
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
 * Writes each index, and overwrites it with the next one unless it is a hit. This avoids a branch: its mispredictions
 * would cost more than everything else.
 */
function findAligned(count: number, isTaken: Uint8Array, shift: number): number {
  let found = 0;
  for (let index = 0; index < count; index++) {
    hitIndexes[found] = index;
    found += isTaken[hashGram(words[index] ?? 0, shift)] ?? 0;
  }
  return found;
}

function findHalfway(count: number, isTaken: Uint8Array, shift: number): number {
  let found = 0;
  for (let index = 0; index < count; index++) {
    hitIndexes[found] = index;
    found += isTaken[hashGram(halfwayWord(index), shift)] ?? 0;
  }
  return found;
}

/** The last two bytes of a word and the first two of the next. */
export function halfwayWord(index: number): number {
  return ((words[index] ?? 0) >>> 16) | ((words[index + 1] ?? 0) << 16);
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

function hashGram(gram: number, shift: number): number {
  return Math.imul(gram | CASE_FOLD, MULTIPLIER) >>> shift;
}
