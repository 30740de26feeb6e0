import { lastAddress } from "../../core/http/client-key.ts";
import type { Variables } from "../../core/variables/variables.ts";

/**
 * The client's address; empty if no trusted source gives one. Cloudflare's edge overwrites `CF-Connecting-IP`, but the
 * development server passes on what the client sent.
 */
export function clientAddress(
  { headers }: Pick<Request, "headers">,
  { clientAddressHeader, development }: Pick<Variables, "clientAddressHeader" | "development">,
): string {
  const header = clientAddressHeader ?? (development ? null : "cf-connecting-ip");
  return header === null ? "" : (lastAddress(headers, header) ?? "");
}
