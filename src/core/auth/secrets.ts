import { toBase64Url } from "../encoding/bytes.ts";
import { sha256 } from "../encoding/hash.ts";

/** Compares two byte sequences in constant time. */
export function equalBytes(left: Uint8Array, right: Uint8Array): boolean {
  let difference = left.length ^ right.length;
  for (let index = 0; index < left.length; index += 1) {
    difference |= (left[index] ?? 0) ^ (right[index] ?? 0);
  }
  return difference === 0;
}

/** Compares two secrets by their digests, so that the timing leaks nothing about them. */
export async function equalSecrets(left: string, right: string): Promise<boolean> {
  const [leftDigest, rightDigest] = await Promise.all([sha256(left), sha256(right)]);
  return equalBytes(leftDigest, rightDigest);
}

/** Creates a random secret of 256 bits, as base64url. */
export function createSecret(): string {
  return toBase64Url(crypto.getRandomValues(new Uint8Array(32)));
}
