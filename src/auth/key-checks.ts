/** An admin key or password that was right is not checked again for this long. */
const REMEMBER_MS = 60_000;

/** Credentials, and addresses, that are remembered at most. */
const MAX_REMEMBERED = 1_000;

/** How a check came out; in how many seconds the address may try again. */
export type KeyVerdict = { readonly right: boolean } | { readonly waitSeconds: number };

interface Remembered {
  /** Milliseconds since the epoch. */
  readonly until: number;
  readonly verdict: Promise<KeyVerdict>;
}

/**
 * Checks of admin keys and passwords: a right one is remembered for a minute. What is remembered is of no use to guessers: while
 * an address has to pause it is not looked at, and neither before the guesses that came earlier are known to be wrong.
 */
export class KeyChecks {
  readonly #checks = new Map<string, Remembered>();
  /** Until when addresses have to pause, milliseconds since the epoch. */
  readonly #pauses = new Map<string, number>();
  /** The checks of an address that are under way. */
  readonly #pending = new Map<string, Promise<unknown>>();

  /**
   * Checks a credential, unless it is remembered. Requests that come at once with the same one share one check.
   *
   * @param client whom attempts are counted for
   * @param credential names the credential
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
    if (known === undefined || known.until <= now) return this.#begin(client, name, now, check);
    await this.#pending.get(client);
    const pause = (this.#pauses.get(client) ?? 0) - now;
    if (pause > 0) return { waitSeconds: Math.ceil(pause / 1000) };
    return known.verdict;
  }

  #begin(client: string, name: string, now: number, check: () => Promise<KeyVerdict>): Promise<KeyVerdict> {
    const verdict = check();
    bounded(this.#checks).set(name, { until: now + REMEMBER_MS, verdict });
    const forget = () => void this.#checks.delete(name);
    const settled = verdict.then((outcome) => {
      if ("waitSeconds" in outcome) bounded(this.#pauses).set(client, now + outcome.waitSeconds * 1000);
      if (!("right" in outcome && outcome.right)) forget();
    }, forget);
    const pending = Promise.all([this.#pending.get(client), settled]).then(() => {
      if (this.#pending.get(client) === pending) this.#pending.delete(client);
    });
    this.#pending.set(client, pending);
    return verdict;
  }
}

/** Makes room for one more: what came first goes first. */
function bounded<T>(map: Map<string, T>): Map<string, T> {
  for (const oldest of map.keys()) {
    if (map.size < MAX_REMEMBERED) break;
    map.delete(oldest);
  }
  return map;
}
