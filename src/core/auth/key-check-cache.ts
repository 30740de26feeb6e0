import { RecentMap } from "../encoding/recent-map.ts";

/** How long a correct admin key or password stays cached. */
const CACHE_MS = 60_000;

/** Limit of cached credentials, and of addresses. */
const MAX_CACHED = 1_000;

/** The outcome of a check. `waitSeconds`: the address may try again after that time. */
export type KeyVerdict = { readonly right: boolean } | { readonly waitSeconds: number };

/**
 * Caches correct admin keys and passwords for a minute. The cache does not help guessers: it is not read while an address
 * must wait, nor before the result of the address's earlier guesses is known.
 */
export class KeyCheckCache {
  readonly #checks = new RecentMap<Promise<KeyVerdict>>(MAX_CACHED, CACHE_MS);
  /** Until when addresses must wait, milliseconds since the epoch. */
  readonly #pauses = new RecentMap<number>(MAX_CACHED);
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
    const known = this.#checks.get(name, now);
    if (known === undefined) return this.#startCheck(client, name, now, check);
    await this.#pending.get(client);
    const pause = (this.#pauses.get(client, now) ?? 0) - now;
    if (pause > 0) return { waitSeconds: Math.ceil(pause / 1000) };
    return known;
  }

  #startCheck(
    client: string,
    name: string,
    now: number,
    check: () => Promise<KeyVerdict>,
  ): Promise<KeyVerdict> {
    const verdict = check();
    this.#checks.set(name, verdict, now);
    const forget = () => this.#checks.delete(name);
    const settled = verdict.then((outcome) => {
      if ("waitSeconds" in outcome) this.#pauses.set(client, now + outcome.waitSeconds * 1000, now);
      if (!("right" in outcome && outcome.right)) forget();
    }, forget);
    const pending = Promise.all([this.#pending.get(client), settled]).then(() => {
      if (this.#pending.get(client) === pending) this.#pending.delete(client);
    });
    this.#pending.set(client, pending);
    return verdict;
  }
}
