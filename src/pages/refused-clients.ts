import type { RateDecision } from "../platform/pages.ts";

/** Clients who are remembered; of more, those that were refused last. */
const MAX_CLIENTS = 1_000;

interface Refusal {
  readonly decision: RateDecision;
  /** Until when nothing can have changed, Unix milliseconds; and when there will be room again. */
  readonly holds: number;
  readonly ends: number;
}

/**
 * Clients who have had all of their share. Until the oldest of their calls is a minute old nothing changes that, so whoever remembers it
 * need not ask: what comes on after its refusal stays away from the place where calls are counted.
 */
export class RefusedClients {
  readonly #refusals = new Map<string, Refusal>();

  /** What a client is told at `now` (Unix milliseconds); null: that has to be asked for. */
  recall(client: string, now: number): RateDecision | null {
    const refusal = this.#refusals.get(client);
    if (refusal === undefined) return null;
    const { decision, holds, ends } = refusal;
    // A clock that was set back must not lock a client out.
    if (now >= holds || now < ends - decision.resetSeconds * 1_000) {
      this.#refusals.delete(client);
      return null;
    }
    return { ...decision, resetSeconds: Math.max(1, Math.ceil((ends - now) / 1_000)) };
  }

  /** Takes note of what a client was told at `now`: whoever has calls left may have room for fewer at once. */
  note(client: string, decision: RateDecision, now: number): void {
    if (decision.allowed || decision.remaining > 0 || decision.limit === 0) return;
    const ends = now + decision.resetSeconds * 1_000;
    // Seconds are rounded up.
    const holds = ends - 1_000;
    if (holds <= now) return;
    this.#refusals.delete(client);
    this.#refusals.set(client, { decision, holds, ends });
    for (const oldest of this.#refusals.keys()) {
      if (this.#refusals.size <= MAX_CLIENTS) return;
      this.#refusals.delete(oldest);
    }
  }
}
