import { hits, words } from "./text-bytes.ts";

/** Bytes of a gram. */
export const GRAM = 4;
/** Spreads grams over the table (multiplicative hashing). */
const MULTIPLIER = 0x9e3779b1;
/** Folds ASCII letters in all four bytes; what else it makes equal only costs a comparison. */
const FOLD = 0x20202020;
/** Places of the table for each gram: the more there are, the fewer other grams fall on them. */
const PLACES = 32;
const MIN_BITS = 8;
const MAX_BITS = 17;
/** So many hashes share a list of entries, which is looked at seldom: this keeps the table small. */
const SHARED_BITS = 2;

/** Which bytes of a gram are in its literal, the first byte being the lowest: all, or all but the last, or all but the first. */
const ALL = -1;
const BUT_LAST = 0x00ffffff;
const BUT_FIRST = ~0xff;

/** Grams, which are four bytes in a row, of many literals. They are found in a text without regard to ASCII case. */
export class GramTable {
  /** How many bits of a hash are dropped. */
  readonly #shift: number;
  /** For each hash, 1 when a gram has it, else 0. */
  readonly #isTaken: Uint8Array;
  /** For hashes of a gram's known bytes, the entry that was added last; 0 for none. */
  readonly #last: Uint16Array;
  /** Of each entry, from 1 on, the one with the same hash before it, */
  readonly #previous = [0];
  /** its literal, and where in that the gram starts. */
  readonly #literals = [0];
  readonly #offsets = [0];
  readonly #masks = [0];
  /** Those of {@link ALL}, {@link BUT_LAST} and {@link BUT_FIRST} that there are. */
  readonly masks: number[] = [];

  /** @param size about how many grams will be added */
  constructor(size: number) {
    const bits = Math.max(MIN_BITS, Math.min(MAX_BITS, 32 - Math.clz32(size * PLACES)));
    this.#shift = 32 - bits;
    this.#isTaken = new Uint8Array(1 << bits);
    this.#last = new Uint16Array(1 << (bits - SHARED_BITS));
  }

  /**
   * Adds the gram of a literal that starts at a position; its first byte may be before the literal, or its last one behind it.
   *
   * @param number the literal's
   */
  add(literal: string, number: number, offset: number): void {
    const mask = offset < 0 ? BUT_FIRST : offset + GRAM > literal.length ? BUT_LAST : ALL;
    if (!this.masks.includes(mask)) this.masks.push(mask);
    const known = gramAt(literal, offset) & mask;
    // The unknown byte of a text can be any.
    for (let byte = 0; byte < (mask === ALL ? 1 : 256); byte++) {
      this.#isTaken[hashOf(known | (mask === BUT_LAST ? byte << 24 : byte), this.#shift)] = 1;
    }
    const hash = hashOf(known, this.#shift + SHARED_BITS);
    this.#previous.push(this.#last[hash] ?? 0);
    this.#last[hash] = this.#literals.push(number) - 1;
    this.#offsets.push(offset);
    this.#masks.push(mask);
  }

  /** Puts the indexes of those of the first words that may be grams into {@link hits}. @returns how many there are */
  findIn(count: number): number {
    return findIn(count, this.#isTaken, this.#shift);
  }

  /** The same for what is half in a word and half in the next. */
  findBetween(count: number): number {
    return findBetween(count, this.#isTaken, this.#shift);
  }

  /** An entry that may be for a gram of which one of {@link masks} is known; 0 for none. */
  first(gram: number, mask: number): number {
    return this.#ofMask(this.#last[hashOf(gram & mask, this.#shift + SHARED_BITS)] ?? 0, mask);
  }

  /** The next one; 0 for none. */
  next(entry: number): number {
    return this.#ofMask(this.#previous[entry] ?? 0, this.#masks[entry] ?? 0);
  }

  #ofMask(entry: number, mask: number): number {
    let at = entry;
    while (at !== 0 && this.#masks[at] !== mask) at = this.#previous[at] ?? 0;
    return at;
  }

  /** Number of the literal of an entry. */
  literal(entry: number): number {
    return this.#literals[entry] ?? 0;
  }

  /** Where in the literal the gram starts. */
  offset(entry: number): number {
    return this.#offsets[entry] ?? 0;
  }
}

/** Each index is written, and the next one over it unless it counts: a branch that a processor cannot foresee would cost more than all the rest. */
function findIn(count: number, isTaken: Uint8Array, shift: number): number {
  let found = 0;
  for (let at = 0; at < count; at++) {
    hits[found] = at;
    found += isTaken[hashOf(words[at] ?? 0, shift)] ?? 0;
  }
  return found;
}

function findBetween(count: number, isTaken: Uint8Array, shift: number): number {
  let found = 0;
  for (let at = 0; at < count; at++) {
    hits[found] = at;
    found += isTaken[hashOf(between(at), shift)] ?? 0;
  }
  return found;
}

/** The last two bytes of a word and the first two of the next. */
export function between(at: number): number {
  return ((words[at] ?? 0) >>> 16) | ((words[at + 1] ?? 0) << 16);
}

/** A gram as a processor reads it: the first byte is the lowest. */
export function gramAt(text: string, at: number): number {
  return (
    text.charCodeAt(at) |
    (text.charCodeAt(at + 1) << 8) |
    (text.charCodeAt(at + 2) << 16) |
    (text.charCodeAt(at + 3) << 24)
  );
}

function hashOf(gram: number, shift: number): number {
  return Math.imul(gram | FOLD, MULTIPLIER) >>> shift;
}
