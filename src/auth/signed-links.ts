import { fromBase64Url, toBase64Url, toUtf8 } from "../encoding/bytes.ts";
import { sameBytes } from "./secrets.ts";

/** What a signed link has in its query beside what it asks for. */
export const LINK_PARAMETERS = ["keyId", "expires", "signature"] as const;

/** Goes before the key's digest in the secret that signs, which is of no use for anything else. */
const PURPOSE = "polygate-link:";

/**
 * The signature of a link (HMAC-SHA-256 in base64url): of its path without a slash at the end, and of its query without `signature`, the
 * parameters in the order of their names, written as forms are. Whoever has the key can make one, and nobody else.
 *
 * @param digest SHA-256 of the API key in hexadecimal
 */
export async function linkSignature(digest: string, path: string, query: URLSearchParams): Promise<string> {
  return toBase64Url(await signatureOf(digest, path, query));
}

/** Whether a link carries the signature that belongs to it. Takes the same time whatever is wrong with it. */
export async function isSigned(digest: string, path: string, query: URLSearchParams): Promise<boolean> {
  const [given, ...others] = query.getAll("signature");
  if (given === undefined || others.length > 0) return false;
  return sameBytes(bytesIn(given), await signatureOf(digest, path, query));
}

async function signatureOf(digest: string, path: string, query: URLSearchParams): Promise<Uint8Array> {
  const signed = new URLSearchParams(query);
  signed.delete("signature");
  signed.sort();
  const secret = toUtf8(PURPOSE + digest);
  const key = await crypto.subtle.importKey("raw", secret, { name: "HMAC", hash: "SHA-256" }, false, [
    "sign",
  ]);
  const text = `${path.replace(/\/$/, "")}?${signed}`;
  return new Uint8Array(await crypto.subtle.sign("HMAC", key, toUtf8(text)));
}

function bytesIn(signature: string): Uint8Array {
  try {
    return fromBase64Url(signature);
  } catch {
    return new Uint8Array();
  }
}
