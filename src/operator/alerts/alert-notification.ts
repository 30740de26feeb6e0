import type { Webhook } from "../../core/config/schema.ts";
import { fromBase64, toBase64, toUtf8 } from "../../core/encoding/bytes.ts";
import type { Alert } from "../../core/ports/alerts.ts";

/** An alert notification: a problem has started or ended, or a test. */
export interface AlertNotification {
  /** A permanent id, by which receivers recognise repeats. */
  readonly id: string;
  readonly at: number;
  readonly state: "firing" | "resolved" | "test";
  readonly alert: Alert | null;
}

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

/**
 * Headers that prove a body's sender and time (Standard Webhooks, standardwebhooks.com, version 1).
 *
 * @param at Unix milliseconds
 */
export async function signBody(
  id: string,
  at: number,
  body: string,
  secret: string,
): Promise<Record<string, string>> {
  const seconds = String(Math.floor(at / 1000));
  const bytes = fromBase64(secret.replace(/^whsec_/, ""));
  const key = await crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  const signed = await crypto.subtle.sign("HMAC", key, toUtf8(`${id}.${seconds}.${body}`));
  return {
    "webhook-id": id,
    "webhook-timestamp": seconds,
    "webhook-signature": `v1,${toBase64(new Uint8Array(signed))}`,
  };
}
