/** Spreads the last characters over the buckets (multiplicative hashing). */
const MULTIPLIER = 0x01000193;
const BUCKET_BITS = 16;
/** Folds ASCII letters; what else it makes equal only costs a comparison. */
const FOLD = 0x20;

/** A text in which a literal occurs more often than this is made to be slow. */
const MAX_POSITIONS = 5_000;

/**
 * Finds which of many literals occur in a text, without regard to ASCII case, in one pass over the text: a hash of the last few characters
 * is looked up at each position, and where a literal's rarest characters could end there, the literal is compared.
 */
export class LiteralScanner {
  readonly #literals: readonly string[];
  /** How many characters the hash spans, */
  readonly #window: number;
  /** and the mask that keeps as many, at eight bits each. */
  readonly #mask: number;
  /** Number of the bucket for each hash; 0 for none. */
  readonly #bucketOf = new Uint16Array(1 << BUCKET_BITS);
  /** For each bucket, pairs of a literal and the position in it at which the hash was taken. */
  readonly #buckets: number[][] = [[]];

  /** @param literals distinct texts of at least three ASCII characters without upper case; an index in this list is what a scan reports */
  constructor(literals: readonly string[]) {
    this.#literals = literals;
    this.#window = literals.some((literal) => literal.length < 4) ? 3 : 4;
    this.#mask = this.#window === 3 ? 0xffffff : -1;

    const counts = this.#countHashes();
    literals.forEach((literal, index) => {
      this.#place(index, this.#rarestEnd(literal, counts));
    });
  }

  /** @returns the literals that occur in the text, by index, with where they start: the first {@link MAX_POSITIONS} places of each */
  scan(text: string): Map<number, number[]> {
    const found = new Map<number, number[]>();
    const mask = this.#mask;
    const bucketOf = this.#bucketOf;
    for (let at = nextHit(text, 0, mask, bucketOf); at >= 0; at = nextHit(text, at + 1, mask, bucketOf)) {
      this.#compare(text, at, found);
    }
    return found;
  }

  #compare(text: string, at: number, found: Map<number, number[]>): void {
    const bucket = this.#bucketOf[bucketHash(lastCharacters(text, at), this.#mask)] ?? 0;
    const entries = this.#buckets[bucket] ?? [];
    for (let i = 0; i < entries.length; i += 2) {
      const index = entries[i] ?? 0;
      const start = at - (entries[i + 1] ?? 0);
      if (!occursAt(text, start, this.#literals[index] ?? "")) continue;
      const positions = found.get(index);
      if (positions === undefined) found.set(index, [start]);
      else if (positions.length < MAX_POSITIONS) positions.push(start);
    }
  }

  #hashEndingAt(literal: string, end: number): number {
    return bucketHash(lastCharacters(literal, end), this.#mask);
  }

  #countHashes(): Uint16Array {
    const counts = new Uint16Array(this.#bucketOf.length);
    for (const literal of this.#literals) {
      for (let end = this.#window - 1; end < literal.length; end++) {
        const hash = this.#hashEndingAt(literal, end);
        counts[hash] = (counts[hash] ?? 0) + 1;
      }
    }
    return counts;
  }

  /** What is rare among the literals tends to be rare on pages too. */
  #rarestEnd(literal: string, counts: Uint16Array): number {
    let best = this.#window - 1;
    let fewest = Number.POSITIVE_INFINITY;
    for (let end = this.#window - 1; end < literal.length; end++) {
      const count = counts[this.#hashEndingAt(literal, end)] ?? 0;
      if (count < fewest) [best, fewest] = [end, count];
    }
    return best;
  }

  #place(index: number, end: number): void {
    const hash = this.#hashEndingAt(this.#literals[index] ?? "", end);
    const bucket = this.#bucketOf[hash] || this.#buckets.push([]) - 1;
    this.#bucketOf[hash] = bucket;
    this.#buckets[bucket]?.push(index, end);
  }
}

/**
 * The first position, from one on, at which a literal's characters may end; -1 for none. A function of its own, because engines
 * optimise a short one that is called often sooner than a long loop.
 */
function nextHit(text: string, from: number, mask: number, bucketOf: Uint16Array): number {
  const { length } = text;
  let last = lastCharacters(text, from - 1);
  for (let at = from; at < length; at++) {
    last = (last << 8) ^ (text.charCodeAt(at) | FOLD);
    if (bucketOf[bucketHash(last, mask)] !== 0) return at;
  }
  return -1;
}

/** The four characters that end at a position, at eight bits each; fewer at the start of a text. */
function lastCharacters(text: string, end: number): number {
  let last = 0;
  for (let at = Math.max(0, end - 3); at <= end; at++) last = (last << 8) ^ (text.charCodeAt(at) | FOLD);
  return last;
}

function bucketHash(last: number, mask: number): number {
  return Math.imul(last & mask, MULTIPLIER) >>> (32 - BUCKET_BITS);
}

/** Whether a literal without upper case stands at a position of a text, without regard to ASCII case. */
function occursAt(text: string, start: number, literal: string): boolean {
  if (start < 0) return false;
  for (let i = 0; i < literal.length; i++) {
    const code = text.charCodeAt(start + i);
    if ((code >= 65 && code <= 90 ? code + 32 : code) !== literal.charCodeAt(i)) return false;
  }
  return true;
}
