import { DurableObject } from "cloudflare:workers";
import type { RateDecision } from "../src/core/ports/pages.ts";
import { CallPersistence } from "../src/pages/limits/call-persistence.ts";
import { RateWindow } from "../src/pages/limits/rate-window.ts";
import type { Env } from "../src/runtime/cloudflare/env.ts";

const KEY = "calls";

/** Counts the calls of one client; the rules are in `src/pages/limits/rate-window.ts` and `call-persistence.ts`. */
export class RateLimiter extends DurableObject<Env> {
  readonly #window: RateWindow;
  readonly #persistence: CallPersistence;
  #settleTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#window = new RateWindow(ctx.storage.kv.get<number[]>(KEY) ?? []);
    this.#persistence = new CallPersistence(this.#window);
  }

  /** Decides whether calls are allowed; `limit` is calls per minute. */
  async take(limit: number, calls = 1): Promise<RateDecision> {
    const now = Date.now();
    const decision = this.#window.take(now, limit, calls);
    if (!decision.allowed) return decision;
    const toWrite = this.#persistence.recordCalls(now, limit, calls);
    if (toWrite === null) return decision;
    clearTimeout(this.#settleTimer);
    if (toWrite.settleAfter !== null) {
      this.#settleTimer = setTimeout(() => this.#settle(), toWrite.settleAfter);
    }
    // The object may be evicted between two calls of a minute, so the calls are stored. The answer need not wait for the
    // disk, though.
    const stored = this.ctx.storage.put(KEY, toWrite.calls, { allowUnconfirmed: true });
    if (this.#window.calls.length === calls) {
      await this.ctx.storage.setAlarm(this.#window.expiresAt, { allowUnconfirmed: true });
    }
    await stored;
    return decision;
  }

  /** Corrects the calls that were stored in advance. */
  #settle(): void {
    const calls = this.#persistence.finishBurst();
    if (calls === null) return;
    this.ctx.storage.put(KEY, calls, { allowUnconfirmed: true }).catch(() => undefined);
  }

  /** Deletes the state of a client without calls for a minute. */
  override async alarm(): Promise<void> {
    const { expiresAt } = this.#window;
    if (expiresAt > Date.now()) await this.ctx.storage.setAlarm(expiresAt);
    else await this.ctx.storage.deleteAll();
  }
}
