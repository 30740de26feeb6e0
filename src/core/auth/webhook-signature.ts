import { fromBase64, toBase64, toUtf8 } from "../encoding/bytes.ts";

/** The bytes of a secret in the form of Standard Webhooks: `whsec_` and base64. Throws as `fromBase64` does. */
export const decodeWebhookSecret = (secret: string): Uint8Array<ArrayBuffer> =>
  fromBase64(secret.replace(/^whsec_/, ""));

/**
 * Headers that prove the sender and the time of a webhook's body (Standard Webhooks, standardwebhooks.com, version 1).
 *
 * @param id a permanent id, by which receivers recognise repeats
 * @param at Unix milliseconds
 */
export async function signWebhookBody(
  id: string,
  at: number,
  body: string,
  secret: Uint8Array<ArrayBuffer>,
): Promise<Record<string, string>> {
  const seconds = String(Math.floor(at / 1000));
  const key = await crypto.subtle.importKey("raw", secret, { name: "HMAC", hash: "SHA-256" }, false, [
    "sign",
  ]);
  const signed = await crypto.subtle.sign("HMAC", key, toUtf8(`${id}.${seconds}.${body}`));
  return {
    "webhook-id": id,
    "webhook-timestamp": seconds,
    "webhook-signature": `v1,${toBase64(new Uint8Array(signed))}`,
  };
}
