const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPENING_BRACKET = 0x5b;
const CLOSING_BRACKET = 0x5d;
const OPENING_BRACE = 0x7b;
const CLOSING_BRACE = 0x7d;
const COLON = 0x3a;
const COMMA = 0x2c;

/**
 * Memory in bytes that values cost besides their characters, until they are validated and translated: per array or object,
 * per member of an object (each may have a unique name), per further value. Measured: docs/performance.md.
 */
export const CONTAINER_COST = 192;
export const MEMBER_COST = 96;
export const VALUE_COST = 16;

/** Most strings end within this many bytes; a native search finds the end of longer ones. */
const SHORT_STRING = 24;

/**
 * Scans JSON before parsing, in one pass over the bytes as they arrive: nesting depth and expected memory. For bytes that
 * are not JSON the result is meaningless, but the pass is equally short.
 */
export class JsonScan {
  readonly #maxDepth: number;
  #cost = 0;
  #depth = 0;
  #deepest = 0;
  #inString = false;
  /** Whether the next byte belongs to an escape. */
  #escaped = false;

  /** @param maxDepth allowed nesting depth of arrays and objects */
  constructor(maxDepth: number) {
    this.#maxDepth = maxDepth;
  }

  /** Expected memory of the values so far in bytes, without the strings' characters. */
  get cost(): number {
    return this.#cost;
  }

  /** Whether the nesting is deeper than `maxDepth`. */
  get tooDeep(): boolean {
    return this.#deepest > this.#maxDepth;
  }

  push(bytes: Uint8Array): void {
    const { length } = bytes;
    let at = this.#inString ? this.#pastString(bytes, 0) : 0;
    let cost = this.#cost;
    let depth = this.#depth;
    let deepest = this.#deepest;
    while (at < length) {
      const byte = bytes[at];
      at += 1;
      if (byte === QUOTE) at = this.#pastString(bytes, at);
      else if (byte === COMMA) cost += VALUE_COST;
      else if (byte === COLON) cost += MEMBER_COST;
      else if (byte === OPENING_BRACE || byte === OPENING_BRACKET) {
        cost += CONTAINER_COST;
        depth += 1;
        if (depth > deepest) deepest = depth;
      } else if (byte === CLOSING_BRACE || byte === CLOSING_BRACKET) depth -= 1;
    }
    this.#cost = cost;
    this.#depth = depth;
    this.#deepest = deepest;
  }

  /** The index after the string's closing quote; `start` lies within the string. */
  #pastString(bytes: Uint8Array, start: number): number {
    const { length } = bytes;
    let at = this.#escaped && length > start ? start + 1 : start;
    if (length > start) this.#escaped = false;
    while (at < length) {
      const shortEnd = Math.min(length, at + SHORT_STRING);
      while (at < shortEnd) {
        const byte = bytes[at];
        if (byte === QUOTE) {
          this.#inString = false;
          return at + 1;
        }
        at += byte === BACKSLASH ? 2 : 1;
      }
      if (at >= length) break;
      const quote = bytes.indexOf(QUOTE, at);
      const end = quote === -1 ? length : quote;
      let escapesStart = end;
      while (escapesStart > at && bytes[escapesStart - 1] === BACKSLASH) escapesStart -= 1;
      const escaped = (end - escapesStart) % 2 === 1;
      if (quote !== -1 && !escaped) {
        this.#inString = false;
        return quote + 1;
      }
      at = escaped ? end + 1 : end;
    }
    this.#inString = true;
    if (at > length) this.#escaped = true;
    return length;
  }
}
