import type { AlertWatcher } from "../../core/ports/alerts.ts";
import type { Env } from "./env.ts";

/** The alert watcher of a deployment: one Durable Object behind the binding `ALERTS`. */
export function createAlertWatcher(env: Env): AlertWatcher {
  // A stub fails for ever after its object has restarted, so each call takes a new one.
  const object = () => env.ALERTS.getByName("main");
  return {
    startChecks: () => object().look(),
    reportAlert: (alert) => object().report(alert),
    sendTestAlert: (webhook) => object().test(webhook),
    getStatus: () => object().status(),
  };
}
