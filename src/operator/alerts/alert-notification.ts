import { decodeWebhookSecret, signWebhookBody } from "../../core/auth/webhook-signature.ts";
import type { Webhook } from "../../core/config/schemas/alert-schema.ts";
import type { Alert } from "../../core/ports/alerts.ts";

/** An alert notification: a problem has started or ended, or a test. */
export interface AlertNotification {
  /** A permanent id, by which receivers recognise repeats. */
  readonly id: string;
  readonly at: number;
  readonly state: "firing" | "resolved" | "test";
  readonly alert: Alert | null;
}

/** What an alert is about: all of its notifications have the same name. */
export const formatAlertName = ({ kind, subject }: Alert): string => `${kind} ${subject}`;

/** The text for readers. */
export function formatText({ state, alert }: AlertNotification): string {
  if (alert === null) return "Polygate: this is a test. Alerts arrive here.";
  return state === "resolved" ? `Polygate: over: ${alert.message}` : `Polygate: ${alert.message}`;
}

/** The body in the receiver's format. */
export function formatBody(notification: AlertNotification, format: Webhook["format"]): string {
  const text = formatText(notification);
  if (format === "chat") return JSON.stringify({ text });
  if (format === "discord") return JSON.stringify({ content: text });
  const { id, at, state, alert } = notification;
  return JSON.stringify({
    id,
    type: alert === null ? "test" : `alert.${state}`,
    timestamp: new Date(at).toISOString(),
    data: { text, ...alert },
  });
}

/** Signs a body with a secret in the form of Standard Webhooks (`whsec_` and base64). */
export function signBody(
  id: string,
  at: number,
  body: string,
  secret: string,
): Promise<Record<string, string>> {
  return signWebhookBody(id, at, body, decodeWebhookSecret(secret));
}
