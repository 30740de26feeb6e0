import type { Config } from "../../../core/config/schema.ts";
import type { Context } from "../../../core/ports/context.ts";

/**
 * Starts an alert check in the background if the configuration has webhooks. Call it after a whole configuration was
 * imported or restored.
 */
export function triggerAlertCheck(context: Context, { alerts }: Config): void {
  if (alerts.webhooks.length === 0) return;
  context.waitUntil(Promise.resolve(context.platform.alerts.startChecks()).catch(() => undefined));
}
