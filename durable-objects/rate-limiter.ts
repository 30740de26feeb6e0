import { DurableObject } from "cloudflare:workers";
import { RateWindow } from "../src/pages/rate-window.ts";
import type { Env } from "../src/platform/cloudflare/env.ts";
import type { RateDecision } from "../src/platform/pages.ts";

const KEY = "calls";

/** Counts the calls of one client; the rules are in `src/pages/rate-window.ts`. */
export class RateLimiter extends DurableObject<Env> {
  readonly #window: RateWindow;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#window = new RateWindow(ctx.storage.kv.get<number[]>(KEY) ?? []);
  }

  /** Decides on calls; `limit` is calls a minute. */
  async take(limit: number, calls = 1): Promise<RateDecision> {
    const now = Date.now();
    const decision = this.#window.take(now, limit, calls);
    if (!decision.allowed) return decision;
    // The object may be put away between two calls of a minute. The answer need not wait for the disk, though.
    const stored = this.ctx.storage.put(KEY, this.#window.calls, { allowUnconfirmed: true });
    if (this.#window.calls.length === calls) {
      await this.ctx.storage.setAlarm(this.#window.expiresAt, { allowUnconfirmed: true });
    }
    await stored;
    return decision;
  }

  /** Forgets a client who has been quiet for a minute. */
  override async alarm(): Promise<void> {
    const { expiresAt } = this.#window;
    if (expiresAt > Date.now()) await this.ctx.storage.setAlarm(expiresAt);
    else await this.ctx.storage.deleteAll();
  }
}
