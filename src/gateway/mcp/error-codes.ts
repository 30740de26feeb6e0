import type { GatewayError } from "../../core/errors/gateway-error.ts";

/** The JSON-RPC 2.0 error code of an HTTP error. -32000 is the first of the codes that servers may define. */
export function toErrorCode({ status, code }: GatewayError): number {
  if (code === "invalid json") return -32700;
  if (status >= 500) return -32603;
  return status === 400 || status === 413 ? -32600 : -32000;
}
