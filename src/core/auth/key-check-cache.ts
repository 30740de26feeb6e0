/** How long a correct admin key or password stays cached. */
const CACHE_MS = 60_000;

/** Limit of cached credentials, and of addresses. */
const MAX_CACHED = 1_000;

/** The outcome of a check. `waitSeconds`: the address may try again after that time. */
export type KeyVerdict = { readonly right: boolean } | { readonly waitSeconds: number };

interface CachedCheck {
  /** Milliseconds since the epoch. */
  readonly until: number;
  readonly verdict: Promise<KeyVerdict>;
}

/**
 * Caches correct admin keys and passwords for a minute. The cache does not help guessers: it is not read while an address
 * must wait, nor before the result of the address's earlier guesses is known.
 */
export class KeyCheckCache {
  readonly #checks = new Map<string, CachedCheck>();
  /** Until when addresses must wait, milliseconds since the epoch. */
  readonly #pauses = new Map<string, number>();
  /** The running checks of each address. */
  readonly #pending = new Map<string, Promise<unknown>>();

  /**
   * Checks a credential, unless the result is cached. Concurrent requests with the same credential share one check.
   *
   * @param client the address for which attempts are counted
   * @param credential name of the credential, for the cache
   * @param now milliseconds since the epoch
   */
  async check(
    client: string,
    credential: string,
    now: number,
    check: () => Promise<KeyVerdict>,
  ): Promise<KeyVerdict> {
    const name = `${client} ${credential}`;
    const known = this.#checks.get(name);
    if (known === undefined || known.until <= now) return this.#startCheck(client, name, now, check);
    await this.#pending.get(client);
    const pause = (this.#pauses.get(client) ?? 0) - now;
    if (pause > 0) return { waitSeconds: Math.ceil(pause / 1000) };
    return known.verdict;
  }

  #startCheck(
    client: string,
    name: string,
    now: number,
    check: () => Promise<KeyVerdict>,
  ): Promise<KeyVerdict> {
    const verdict = check();
    makeRoom(this.#checks).set(name, { until: now + CACHE_MS, verdict });
    const forget = () => void this.#checks.delete(name);
    const settled = verdict.then((outcome) => {
      if ("waitSeconds" in outcome) makeRoom(this.#pauses).set(client, now + outcome.waitSeconds * 1000);
      if (!("right" in outcome && outcome.right)) forget();
    }, forget);
    const pending = Promise.all([this.#pending.get(client), settled]).then(() => {
      if (this.#pending.get(client) === pending) this.#pending.delete(client);
    });
    this.#pending.set(client, pending);
    return verdict;
  }
}

/** Evicts the oldest entries to make room for one more. */
function makeRoom<T>(map: Map<string, T>): Map<string, T> {
  for (const oldest of map.keys()) {
    if (map.size < MAX_CACHED) break;
    map.delete(oldest);
  }
  return map;
}
