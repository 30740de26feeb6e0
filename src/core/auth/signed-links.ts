import { fromBase64Url, toBase64Url, toUtf8 } from "../encoding/bytes.ts";
import { equalBytes } from "./secrets.ts";

/** Query parameters of a signed link, in addition to those of the linked request. */
export const LINK_PARAMETERS = ["keyId", "expires", "signature"] as const;

/** Prefix of the key's digest in the signing secret. It keeps that secret from any other use. */
const PURPOSE = "polygate-link:";

/**
 * Signs a link with HMAC-SHA-256, in base64url. Signed are the path without a trailing slash, and the form-encoded query
 * without `signature`, sorted by name. Only a holder of the key can create a signature.
 *
 * @param digest SHA-256 of the API key in hexadecimal
 */
export async function signLink(digest: string, path: string, query: URLSearchParams): Promise<string> {
  return toBase64Url(await computeSignature(digest, path, query));
}

/** Whether a link has a valid signature. Compares in constant time. */
export async function hasValidSignature(
  digest: string,
  path: string,
  query: URLSearchParams,
): Promise<boolean> {
  const [signature, ...duplicates] = query.getAll("signature");
  if (signature === undefined || duplicates.length > 0) return false;
  return equalBytes(decodeSignature(signature), await computeSignature(digest, path, query));
}

async function computeSignature(digest: string, path: string, query: URLSearchParams): Promise<Uint8Array> {
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

function decodeSignature(signature: string): Uint8Array {
  try {
    return fromBase64Url(signature);
  } catch {
    return new Uint8Array();
  }
}
