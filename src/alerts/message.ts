import type { Webhook } from "../config/schema.ts";
import { fromBase64, toBase64, toUtf8 } from "../encoding/bytes.ts";
import type { Alert } from "../platform/alerts.ts";

/** What is told: something that has begun, or is over, or a test. */
export interface News {
  /** Names it for good: whoever hears it twice knows. */
  readonly id: string;
  readonly at: number;
  readonly state: "firing" | "resolved" | "test";
  readonly alert: Alert | null;
}

/** What people read. */
export function textOf({ state, alert }: News): string {
  if (alert === null) return "Polygate: this is a test. Alerts arrive here.";
  return state === "resolved" ? `Polygate: over: ${alert.message}` : `Polygate: ${alert.message}`;
}

/** The body in the form that the receiver takes. */
export function bodyOf(news: News, format: Webhook["format"]): string {
  const text = textOf(news);
  if (format === "chat") return JSON.stringify({ text });
  if (format === "discord") return JSON.stringify({ content: text });
  const { id, at, state, alert } = news;
  return JSON.stringify({
    id,
    type: alert === null ? "test" : `alert.${state}`,
    timestamp: new Date(at).toISOString(),
    data: { text, ...alert },
  });
}

/**
 * Headers that prove who sent a body, and when (Standard Webhooks, standardwebhooks.com, version 1).
 *
 * @param at Unix milliseconds
 */
export async function signature(
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
