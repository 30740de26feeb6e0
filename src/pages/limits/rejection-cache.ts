import { RecentMap } from "../../core/encoding/recent-map.ts";
import type { RateDecision } from "../../core/ports/pages.ts";

/** Maximum number of clients to remember; the latest rejections win. */
const MAX_CLIENTS = 1_000;

interface Rejection {
  readonly decision: RateDecision;
  /** Until when the rejection is certain, and when calls are possible again, Unix milliseconds. */
  readonly certainUntil: number;
  readonly resetAt: number;
}

/**
 * Remembers clients that have reached their limit. The limit cannot free up until the client's oldest call is a minute
 * old. Until then the program repeats the rejection without asking the counter, which protects the counter from the
 * refused load.
 */
export class RejectionCache {
  readonly #rejections = new RecentMap<Rejection>(MAX_CLIENTS);

  /** The known rejection of a client at `now` (Unix milliseconds); null: ask the counter. */
  getRejection(client: string, now: number): RateDecision | null {
    const rejection = this.#rejections.get(client, now);
    if (rejection === undefined) return null;
    const { decision, certainUntil, resetAt } = rejection;
    // A clock that was set back must not lock a client out.
    if (now >= certainUntil || now < resetAt - decision.resetSeconds * 1_000) {
      this.#rejections.delete(client);
      return null;
    }
    return { ...decision, resetSeconds: Math.max(1, Math.ceil((resetAt - now) / 1_000)) };
  }

  /** Remembers a rejection at `now`. Ignores clients that have calls left: they only asked for too many at once. */
  remember(client: string, decision: RateDecision, now: number): void {
    if (decision.allowed || decision.remaining > 0 || decision.limit === 0) return;
    const resetAt = now + decision.resetSeconds * 1_000;
    // The decision's seconds are rounded up.
    const certainUntil = resetAt - 1_000;
    if (certainUntil <= now) return;
    this.#rejections.set(client, { decision, certainUntil, resetAt }, now);
  }
}
