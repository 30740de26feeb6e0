import { callApi } from "./client.ts";
import type { AnswerOf, BodyOf } from "./endpoints.ts";
import { sendUndoable } from "./undo.ts";

/** Webhooks, rules, active alerts and recent deliveries. */
export type AlertsView = AnswerOf<"GET /admin/alerts">;
/** A webhook that receives alerts; its URL is masked. */
export type WebhookView = AlertsView["webhooks"][number];
export type DeliveryView = AlertsView["deliveries"][number];
/** When an alert fires, and after how many minutes it repeats. */
export type AlertRule = AlertsView["rules"][RuleKind];
/** The id of a rule. */
export type RuleKind = keyof AlertsView["rules"];

type AlertsInput = BodyOf<"PUT /admin/alerts">;
type Webhooks = NonNullable<AlertsInput["webhooks"]>;

export const readAlerts = (signal?: AbortSignal) => callApi("GET /admin/alerts", { signal });

/** Replaces the webhooks, and the private hosts if given. Returns the secrets of new webhooks by id. */
export async function saveWebhooks(
  webhooks: Webhooks,
  private_hosts?: readonly string[],
): Promise<Readonly<Record<string, string>>> {
  const body = private_hosts === undefined ? { webhooks } : { webhooks, private_hosts: [...private_hosts] };
  return (await callApi("PUT /admin/alerts", { body })).secrets ?? {};
}

/** Saves the webhooks without the deleted ones. The deletion can be undone. */
export const deleteWebhook = (webhooks: Webhooks) =>
  sendUndoable("PUT /admin/alerts", { body: { webhooks } });

export const savePrivateHosts = (private_hosts: readonly string[]) =>
  callApi("PUT /admin/alerts", { body: { private_hosts } });

export const saveRules = (rules: NonNullable<AlertsInput["rules"]>) =>
  callApi("PUT /admin/alerts", { body: { rules } });

export const testWebhook = (id: string) => callApi("POST /admin/alerts/test", { body: { webhook: id } });
