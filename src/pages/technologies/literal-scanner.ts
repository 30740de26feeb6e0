/** Characters that the rolling hash spans; shorter literals are searched one by one. */
const WINDOW = 4;
const SHIFT = 5;

/**
 * Finds which of many literals occur in a text, in one pass over the text: a hash of the last four characters is looked up at
 * each position, and where a literal could end its four rarest characters there, the literal is compared.
 */
export class LiteralScanner {
  readonly #literals: readonly string[];
  readonly #short: number[] = [];
  readonly #mask: number;
  /** Number of the bucket for each hash; 0 for none. */
  readonly #bucketOf: Uint16Array;
  /** For each bucket, pairs of a literal and the position in it at which the hash was taken. */
  readonly #buckets: number[][] = [[]];
  /** The scan that last found each literal, so that none is compared again once found. */
  readonly #foundIn: Uint32Array;
  #scans = 0;

  /** @param literals distinct texts of ASCII without upper case; an index in this list is what a scan reports */
  constructor(literals: readonly string[]) {
    this.#literals = literals;
    const bits = literals.length > 2000 ? 18 : literals.length > 200 ? 16 : 13;
    this.#mask = (1 << bits) - 1;
    this.#bucketOf = new Uint16Array(1 << bits);
    this.#foundIn = new Uint32Array(literals.length);

    const counts = this.#countHashes();
    literals.forEach((literal, index) => {
      if (literal.length < WINDOW) this.#short.push(index);
      else this.#place(index, this.#rarestEnd(literal, counts));
    });
  }

  /**
   * @param text in lower case
   * @returns the indexes of the literals that occur in it, each once, in no particular order
   */
  scan(text: string): number[] {
    const found: number[] = [];
    const scan = ++this.#scans;
    for (const index of this.#short) {
      if (text.includes(this.#literals[index] ?? "")) found.push(index);
    }
    const mask = this.#mask;
    const bucketOf = this.#bucketOf;
    let hash = 0;
    for (let at = 0; at < text.length; at++) {
      hash = ((hash << SHIFT) ^ text.charCodeAt(at)) & mask;
      const bucket = bucketOf[hash];
      if (bucket !== 0 && bucket !== undefined) this.#verify(text, at, bucket, scan, found);
    }
    return found;
  }

  #verify(text: string, at: number, bucket: number, scan: number, found: number[]): void {
    const entries = this.#buckets[bucket] ?? [];
    for (let i = 0; i < entries.length; i += 2) {
      const index = entries[i] ?? 0;
      if (this.#foundIn[index] === scan) continue;
      if (text.startsWith(this.#literals[index] ?? "", at - (entries[i + 1] ?? 0))) {
        this.#foundIn[index] = scan;
        found.push(index);
      }
    }
  }

  #hashEndingAt(literal: string, end: number): number {
    let hash = 0;
    for (let at = end - WINDOW + 1; at <= end; at++)
      hash = ((hash << SHIFT) ^ literal.charCodeAt(at)) & this.#mask;
    return hash;
  }

  #countHashes(): Uint16Array {
    const counts = new Uint16Array(this.#mask + 1);
    for (const literal of this.#literals) {
      for (let end = WINDOW - 1; end < literal.length; end++) {
        const hash = this.#hashEndingAt(literal, end);
        counts[hash] = (counts[hash] ?? 0) + 1;
      }
    }
    return counts;
  }

  /** What is rare among the literals tends to be rare on pages too. */
  #rarestEnd(literal: string, counts: Uint16Array): number {
    let best = WINDOW - 1;
    let fewest = Number.POSITIVE_INFINITY;
    for (let end = WINDOW - 1; end < literal.length; end++) {
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
