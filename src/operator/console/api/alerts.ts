import * as z from "zod/mini";
import { callApi } from "./client.ts";
import { booleanField, numberField, textField } from "./fields.ts";
import { sendUndoable } from "./undo.ts";

const webhook = z.object({
  id: textField,
  name: textField,
  url: textField,
  format: textField,
  disabled: booleanField,
});

/** A webhook that receives alerts; its URL is masked. */
export type WebhookView = z.output<typeof webhook>;

const rule = z.object({ enabled: booleanField, threshold: numberField, quiet_minutes: numberField });

/** When an alert fires, and after how many minutes it repeats. */
export type AlertRule = z.output<typeof rule>;

const alerts = z.object({
  webhooks: z._default(z.array(webhook), []),
  private_hosts: z._default(z.array(textField), []),
  rules: z.record(z.string(), rule),
  firing: z._default(z.array(z.object({ kind: textField, message: textField, since: numberField })), []),
  deliveries: z._default(
    z.array(
      z.object({
        at: numberField,
        webhook: textField,
        kind: textField,
        message: textField,
        error: textField,
        pending: booleanField,
      }),
    ),
    [],
  ),
});

/** Webhooks, rules, active alerts and recent deliveries. */
export type AlertsView = z.output<typeof alerts>;
export type DeliveryView = AlertsView["deliveries"][number];

export const readAlerts = (signal?: AbortSignal) =>
  callApi(alerts, "/admin/alerts", signal === undefined ? {} : { signal });

const alertsSavedSchema = z.object({ secrets: z._default(z.record(z.string(), z.string()), {}) });

/** Replaces the webhooks. Returns the secrets of new ones by id. */
export async function saveWebhooks(webhooks: readonly object[]): Promise<Readonly<Record<string, string>>> {
  return (await callApi(alertsSavedSchema, "/admin/alerts", { method: "PUT", body: { webhooks } })).secrets;
}

/** Saves the webhooks without the deleted ones. The deletion can be undone. */
export const deleteWebhook = (webhooks: readonly object[]) =>
  sendUndoable("/admin/alerts", { method: "PUT", body: { webhooks } });

export const savePrivateHosts = (private_hosts: readonly string[]) =>
  callApi(alertsSavedSchema, "/admin/alerts", { method: "PUT", body: { private_hosts } });

export const saveRules = (rules: Readonly<Record<string, AlertRule>>) =>
  callApi(alertsSavedSchema, "/admin/alerts", { method: "PUT", body: { rules } });

const webhookTestSchema = z.object({ success: booleanField, message: textField });

export const testWebhook = (id: string) =>
  callApi(webhookTestSchema, "/admin/alerts/test", { method: "POST", body: { webhook: id } });
