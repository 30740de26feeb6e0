import { toHex, toUtf8 } from "./bytes.ts";

/** SHA-256 (FIPS 180-4) of bytes, or of a text's UTF-8. */
export async function sha256(content: string | Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = typeof content === "string" ? toUtf8(content) : content;
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
}

/** SHA-256 in hexadecimal, lower case. */
export async function sha256Hex(content: string | Uint8Array<ArrayBuffer>): Promise<string> {
  return toHex(await sha256(content));
}
