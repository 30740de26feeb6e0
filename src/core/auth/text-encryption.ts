import { concatBytes, fromBase64, toBase64, toUtf8 } from "../encoding/bytes.ts";

const NONCE = 12;

function importKey(secret: Uint8Array<ArrayBuffer>): Promise<CryptoKey> {
  return crypto.subtle.importKey("raw", secret, "AES-GCM", false, ["encrypt", "decrypt"]);
}

/** Encrypts a text with AES-256-GCM; returns base64. `secret` has 32 bytes. */
export async function encryptText(text: string, secret: Uint8Array<ArrayBuffer>): Promise<string> {
  const iv = crypto.getRandomValues(new Uint8Array(NONCE));
  const sealed = await crypto.subtle.encrypt({ name: "AES-GCM", iv }, await importKey(secret), toUtf8(text));
  return toBase64(concatBytes([iv, new Uint8Array(sealed)]));
}

/** Decrypts a text of {@link encryptText}. Rejects for another secret. */
export async function decryptText(sealed: string, secret: Uint8Array<ArrayBuffer>): Promise<string> {
  const bytes = fromBase64(sealed);
  const iv = bytes.slice(0, NONCE);
  const text = await crypto.subtle.decrypt(
    { name: "AES-GCM", iv },
    await importKey(secret),
    bytes.slice(NONCE),
  );
  return new TextDecoder().decode(text);
}
