/**
 * A map with a bounded size whose entries may expire. When it is full, it evicts the entry that was set longest ago. `now` is
 * in milliseconds; it does not matter for a map without a lifetime.
 */
export class RecentMap<Value> {
  readonly #entries = new Map<string, { readonly value: Value; readonly until: number }>();
  readonly #maxSize: number;
  readonly #ttlMs: number;

  constructor(maxSize: number, ttlMs = Number.POSITIVE_INFINITY) {
    this.#maxSize = maxSize;
    this.#ttlMs = ttlMs;
  }

  /** The value of a key; undefined if it has none, or an expired one. */
  get(key: string, now: number): Value | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined || entry.until > now) return entry?.value;
    this.#entries.delete(key);
    return undefined;
  }

  /** Sets a value, which lives its full time from `now` on. */
  set(key: string, value: Value, now: number): void {
    this.#entries.delete(key);
    this.#entries.set(key, { value, until: now + this.#ttlMs });
    if (this.#entries.size <= this.#maxSize) return;
    for (const oldest of this.#entries.keys()) {
      this.#entries.delete(oldest);
      return;
    }
  }

  delete(key: string): void {
    this.#entries.delete(key);
  }
}
