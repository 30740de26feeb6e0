/** How long a harmful page counts against its client, milliseconds. */
const HARM_MS = 60_000;
/**
 * How long after its last page a client still counts as active: clients that request pages in sequence have short gaps.
 */
const SERVED_MS = 5_000;

/** Tracks the clients whose pages did harm, and the active clients. */
export class ClientHarm {
  readonly #now: () => number;
  /** By client: the expiry times of its harmful pages, milliseconds since the epoch. */
  readonly #harm = new Map<string, readonly number[]>();
  /** By client: the time of its last activity. */
  readonly #served = new Map<string, number>();

  /** @param now milliseconds since the epoch */
  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  /** Records a harmful page of a client: it blocked its tab until it was ended, or exceeded its resource limits. */
  add(client: string): void {
    const now = this.#now();
    for (const [of, times] of this.#harm) if (times.every((until) => until <= now)) this.#harm.delete(of);
    const before = this.#harm.get(client)?.filter((until) => until > now) ?? [];
    // More halvings would have no effect.
    this.#harm.set(client, [...before, now + HARM_MS].slice(-32));
  }

  /** Whether a client has harmful pages that still count. */
  isHeld(client: string): boolean {
    return this.#count(client) > 0;
  }

  /** The client's share of the tabs: each harmful page halves it for a time, but one tab always remains. */
  shareOf(client: string, tabs: number): number {
    return Math.max(1, Math.floor(tabs / 2 ** this.#count(client)));
  }

  /** Records activity of a client: it gets a tab, waits for one, or returns it. */
  sees(client: string): void {
    const now = this.#now();
    for (const [of, at] of this.#served) if (at + SERVED_MS < now) this.#served.delete(of);
    this.#served.set(client, now);
  }

  /** Whether other clients are active. */
  hasOthers(client: string): boolean {
    const now = this.#now();
    for (const [of, at] of this.#served) if (of !== client && at + SERVED_MS >= now) return true;
    return false;
  }

  #count(client: string): number {
    const now = this.#now();
    return this.#harm.get(client)?.filter((until) => until > now).length ?? 0;
  }
}
