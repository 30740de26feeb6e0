import { fromBase64Url, toBase64Url } from "../encoding/bytes.ts";
import { equalBytes } from "./secrets.ts";

/** The maximum of the platform's PBKDF2. */
const ITERATIONS = 100_000;
const SCHEME = "pbkdf2-sha256";
const HASH_BITS = 256;

async function derive(password: string, salt: Uint8Array, iterations: number): Promise<Uint8Array> {
  const key = await crypto.subtle.importKey("raw", new TextEncoder().encode(password), "PBKDF2", false, [
    "deriveBits",
  ]);
  const parameters = { name: "PBKDF2", hash: "SHA-256", salt, iterations };
  return new Uint8Array(await crypto.subtle.deriveBits(parameters, key, HASH_BITS));
}

/** Hashes a password for storage: `pbkdf2-sha256$iterations$salt$hash`, salt and hash as base64url. */
export async function hashPassword(
  password: string,
  salt: Uint8Array = crypto.getRandomValues(new Uint8Array(16)),
): Promise<string> {
  const hash = await derive(password, salt, ITERATIONS);
  return [SCHEME, ITERATIONS, toBase64Url(salt), toBase64Url(hash)].join("$");
}

/** Whether a password matches the stored hash. False for an unknown hash format. */
export async function verifyPassword(password: string, stored: string): Promise<boolean> {
  const [scheme, iterations, salt, hash] = stored.split("$");
  const iterationCount = Number(iterations);
  if (
    scheme !== SCHEME ||
    !(iterationCount > 0 && iterationCount <= ITERATIONS) ||
    salt === undefined ||
    hash === undefined
  ) {
    return false;
  }
  try {
    return equalBytes(await derive(password, fromBase64Url(salt), iterationCount), fromBase64Url(hash));
  } catch {
    return false;
  }
}

/** Derives a 256-bit key from a human-chosen secret, as base64url. Deterministic for a secret and purpose. */
export async function deriveSecret(secret: string, purpose: string): Promise<string> {
  return toBase64Url(await derive(secret, new TextEncoder().encode(purpose), ITERATIONS));
}
