const WINDOW_MS = 60_000;

/** A use at a moment. It may be changed as long as it counts. */
export interface Counted {
  at: number;
  requests: number;
  tokens: number;
}

/**
 * The use of the last 60 seconds, as a sliding window: not aligned to a minute of the clock. A reservation of a request
 * that waits for an account counts without expiring.
 */
export class RollingMinute {
  requests = 0;
  tokens = 0;
  /** Oldest first. Expired entries stay at the front until there are many. */
  #counted: Counted[] = [];
  #first = 0;

  /** Counts a use that starts now. */
  add(now: number, requests: number, tokens: number): Counted {
    const counted = { at: now, requests, tokens };
    this.#counted.push(counted);
    this.requests += requests;
    this.tokens += tokens;
    return counted;
  }

  /** Counts a use that has not begun; then {@link begin} or {@link drop} it. */
  reserve(requests: number, tokens: number): Counted {
    this.requests += requests;
    this.tokens += tokens;
    return { at: Number.POSITIVE_INFINITY, requests, tokens };
  }

  begin(counted: Counted, now: number): void {
    if (counted.at !== Number.POSITIVE_INFINITY) return;
    counted.at = now;
    this.#counted.push(counted);
  }

  /** Removes the whole use, if it still counts. */
  drop(counted: Counted): void {
    this.change(counted, -counted.requests, -counted.tokens);
  }

  /** Changes a use that still counts. */
  change(counted: Counted, requests: number, tokens: number): void {
    counted.requests += requests;
    counted.tokens += tokens;
    if (counted.at === Number.NEGATIVE_INFINITY) return;
    this.requests += requests;
    this.tokens += tokens;
  }

  /** Removes what is older than a minute. Must be called before anything is read. */
  roll(now: number): void {
    const counted = this.#counted;
    // The clock was set back: entries in the future count as used now.
    for (let last = counted.length - 1; last >= this.#first; last -= 1) {
      const entry = counted[last];
      if (entry === undefined || entry.at <= now) break;
      entry.at = now;
    }
    for (let entry = counted[this.#first]; entry !== undefined; entry = counted[this.#first]) {
      if (entry.at > now - WINDOW_MS) break;
      this.#first += 1;
      this.requests -= entry.requests;
      this.tokens -= entry.tokens;
      entry.at = Number.NEGATIVE_INFINITY;
    }
    if (this.#first > 64 && 2 * this.#first > counted.length) {
      this.#counted = counted.slice(this.#first);
      this.#first = 0;
    }
  }

  /** Milliseconds until that many requests and tokens expire, if nothing is added. */
  getMsUntilFreed(now: number, requests: number, tokens: number): number {
    let missingRequests = requests;
    let missingTokens = tokens;
    for (let index = this.#first; index < this.#counted.length; index += 1) {
      const entry = this.#counted[index];
      if (entry === undefined) break;
      missingRequests -= entry.requests;
      missingTokens -= entry.tokens;
      if (missingRequests <= 0 && missingTokens <= 0) return entry.at + WINDOW_MS - now;
    }
    return WINDOW_MS;
  }

  /** Milliseconds until everything expires. */
  getMsUntilEmpty(now: number): number {
    if (this.requests <= 0 && this.tokens <= 0) return 0;
    const newest = this.#counted.at(-1);
    return newest === undefined || newest.at === Number.NEGATIVE_INFINITY ? 0 : newest.at + WINDOW_MS - now;
  }
}
