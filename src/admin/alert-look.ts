import type { Config } from "../config/schema.ts";
import type { Context } from "../platform/context.ts";

/** Somebody may want to be told by a configuration that came as a whole: from now on the deployment is watched. Nobody waits for it. */
export function lookAt(context: Context, { alerts }: Config): void {
  if (alerts.webhooks.length === 0) return;
  context.waitUntil(Promise.resolve(context.platform.alerts.look()).catch(() => undefined));
}
