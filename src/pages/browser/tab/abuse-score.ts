/** How long a harmful page counts against its client, milliseconds. */
const PENALTY_MS = 60_000;
/**
 * How long after its last page a client still counts as active: clients that request pages in sequence have short gaps.
 */
const ACTIVE_MS = 5_000;

/** Tracks the clients whose pages did harm, and the active clients. */
export class AbuseScore {
  readonly #now: () => number;
  /** By client: the expiry times of its harmful pages, milliseconds since the epoch. */
  readonly #penaltyEnds = new Map<string, readonly number[]>();
  /** By client: the time of its last activity. */
  readonly #lastActive = new Map<string, number>();

  /** @param now milliseconds since the epoch */
  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  /** Records a harmful page of a client: it blocked its tab until it was ended, or exceeded its resource limits. */
  recordHarm(client: string): void {
    const now = this.#now();
    for (const [other, times] of this.#penaltyEnds)
      if (times.every((expiry) => expiry <= now)) this.#penaltyEnds.delete(other);
    const activeExpiries = this.#penaltyEnds.get(client)?.filter((expiry) => expiry > now) ?? [];
    // More halvings would have no effect.
    this.#penaltyEnds.set(client, [...activeExpiries, now + PENALTY_MS].slice(-32));
  }

  /** Whether a client has harmful pages that still count. */
  isPenalized(client: string): boolean {
    return this.#countPenalties(client) > 0;
  }

  /** The client's share of the tabs: each harmful page halves it for a time, but one tab always remains. */
  getTabShare(client: string, tabs: number): number {
    return Math.max(1, Math.floor(tabs / 2 ** this.#countPenalties(client)));
  }

  /** Records that a client has just returned a tab. */
  recordActivity(client: string): void {
    const now = this.#now();
    for (const [other, at] of this.#lastActive) if (at + ACTIVE_MS < now) this.#lastActive.delete(other);
    this.#lastActive.set(client, now);
  }

  /** Whether another client returned a tab in the last `ACTIVE_MS`. */
  hasOtherActiveClients(client: string): boolean {
    const now = this.#now();
    for (const [other, at] of this.#lastActive) if (other !== client && at + ACTIVE_MS >= now) return true;
    return false;
  }

  #countPenalties(client: string): number {
    const now = this.#now();
    return this.#penaltyEnds.get(client)?.filter((expiry) => expiry > now).length ?? 0;
  }
}
