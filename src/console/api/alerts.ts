import * as z from "zod/mini";
import { call } from "./client.ts";
import { flag, number, text } from "./fields.ts";
import { undoable } from "./undo.ts";

const webhook = z.object({ id: text, name: text, url: text, format: text, disabled: flag });

/** A webhook that receives alerts; its URL is masked. */
export type WebhookView = z.output<typeof webhook>;

const rule = z.object({ enabled: flag, threshold: number, quiet_minutes: number });

/** When an alert fires, and after how many minutes it repeats. */
export type AlertRule = z.output<typeof rule>;

const alerts = z.object({
  webhooks: z._default(z.array(webhook), []),
  rules: z.record(z.string(), rule),
  firing: z._default(z.array(z.object({ kind: text, message: text, since: number })), []),
  deliveries: z._default(
    z.array(z.object({ at: number, webhook: text, kind: text, message: text, error: text, pending: flag })),
    [],
  ),
});

/** Webhooks, rules, active alerts and recent deliveries. */
export type AlertsView = z.output<typeof alerts>;
export type DeliveryView = AlertsView["deliveries"][number];

export const readAlerts = (signal?: AbortSignal) =>
  call(alerts, "/admin/alerts", signal === undefined ? {} : { signal });

const saved = z.object({ secrets: z._default(z.record(z.string(), z.string()), {}) });

/** Replaces the webhooks. Returns the secrets of new ones by id. */
export async function saveWebhooks(webhooks: readonly object[]): Promise<Readonly<Record<string, string>>> {
  return (await call(saved, "/admin/alerts", { method: "PUT", body: { webhooks } })).secrets;
}

/** Saves the webhooks without the deleted ones. The deletion can be undone. */
export const deleteWebhook = (webhooks: readonly object[]) =>
  undoable("/admin/alerts", { method: "PUT", body: { webhooks } });

export const saveRules = (rules: Readonly<Record<string, AlertRule>>) =>
  call(saved, "/admin/alerts", { method: "PUT", body: { rules } });

const tested = z.object({ success: flag, message: text });

export const testWebhook = (id: string) =>
  call(tested, "/admin/alerts/test", { method: "POST", body: { webhook: id } });
