/** How long a page that did harm is held against its client, milliseconds. */
const HARM_MS = 60_000;
/** How long after its last page a client still counts as being served: whoever takes one picture after another wants the next. */
const SERVED_MS = 5_000;

/** Remembers whose pages did harm, and who is being served. */
export class ClientHarm {
  readonly #now: () => number;
  /** By client, until when each of its harmful pages is held against it; milliseconds since the epoch. */
  readonly #harm = new Map<string, readonly number[]>();
  /** By client, when it was last seen to be served. */
  readonly #served = new Map<string, number>();

  /** @param now milliseconds since the epoch */
  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  /** A client's page held its tab up until it was ended, or took more of the machine than a page may. */
  add(client: string): void {
    const now = this.#now();
    for (const [of, times] of this.#harm) if (times.every((until) => until <= now)) this.#harm.delete(of);
    const before = this.#harm.get(client)?.filter((until) => until > now) ?? [];
    // No share can be halved more often.
    this.#harm.set(client, [...before, now + HARM_MS].slice(-32));
  }

  /** Whether something is held against a client. */
  isHeld(client: string): boolean {
    return this.#count(client) > 0;
  }

  /** What is left of a client's share of tabs: each harmful page halves it for a while, and one tab is left in any case. */
  shareOf(client: string, tabs: number): number {
    return Math.max(1, Math.floor(tabs / 2 ** this.#count(client)));
  }

  /** A client gets a tab, waits for one, or gives it back. */
  sees(client: string): void {
    const now = this.#now();
    for (const [of, at] of this.#served) if (at + SERVED_MS < now) this.#served.delete(of);
    this.#served.set(client, now);
  }

  /** Whether others are being served as well. */
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
