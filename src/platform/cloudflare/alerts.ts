import type { AlertWatcher } from "../alerts.ts";
import type { Env } from "./env.ts";

/** Who watches over a deployment: one object behind the binding `ALERTS`. */
export function cloudflareAlerts(env: Env): AlertWatcher {
  // A stub that has seen its object restart fails for ever: each call gets a new one.
  const object = () => env.ALERTS.getByName("main");
  return {
    look: () => object().look(),
    report: (alert) => object().report(alert),
    test: (webhook) => object().test(webhook),
    status: () => object().status(),
  };
}
