import { DurableObject } from "cloudflare:workers";
import type { Alert, AlertStatus, AlertTestResult } from "../src/core/ports/alerts.ts";
import { Watcher, type WatchState } from "../src/operator/alerts/watcher.ts";
import type { Env } from "../src/runtime/cloudflare/env.ts";
import { createCloudflarePlatform } from "../src/runtime/cloudflare/index.ts";

const STATE = "state";

/** Watches the deployment and notifies webhooks: alarm and storage around the rules in `src/operator/alerts/`. */
export class Alerts extends DurableObject<Env> {
  readonly #watcher: Watcher;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#watcher = new Watcher({
      platform: createCloudflarePlatform(env),
      load: () => ctx.storage.kv.get<WatchState>(STATE) ?? null,
      save: (state) => ctx.storage.kv.put(STATE, state),
    });
  }

  async look(): Promise<void> {
    if ((await this.ctx.storage.getAlarm()) === null) await this.ctx.storage.setAlarm(Date.now());
  }

  async report(alert: Alert): Promise<void> {
    await this.#watcher.report(alert);
    await this.ctx.storage.setAlarm(Date.now());
  }

  test(webhook: string): Promise<AlertTestResult | null> {
    return this.#watcher.test(webhook);
  }

  status(): AlertStatus {
    return this.#watcher.status();
  }

  override async alarm(): Promise<void> {
    const next = await this.#watcher.runRound();
    if (next !== null) await this.ctx.storage.setAlarm(Date.now() + next);
  }
}
