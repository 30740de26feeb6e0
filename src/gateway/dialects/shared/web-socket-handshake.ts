import { GatewayError, invalidRequest } from "../../../core/errors/gateway-error.ts";

const WEBSOCKET_VERSION = "13";

/** Whether a request asks for a WebSocket. */
export function wantsWebSocket(headers: Headers): boolean {
  return headers.get("upgrade")?.toLowerCase() === "websocket";
}

/**
 * Validates the handshake (RFC 6455, section 4.2.1), because not every runtime does.
 *
 * @throws GatewayError 400 and 426
 */
export function validateHandshake(headers: Headers): void {
  if (headers.get("sec-websocket-version") !== WEBSOCKET_VERSION) {
    throw new GatewayError(426, `only version ${WEBSOCKET_VERSION} of the WebSocket protocol is spoken`, {
      code: "invalid_request",
      headers: { "sec-websocket-version": WEBSOCKET_VERSION },
    });
  }
  if (!/^[A-Za-z0-9+/]{22}==$/.test(headers.get("sec-websocket-key") ?? "")) {
    throw invalidRequest("Sec-WebSocket-Key must be 16 bytes in base64");
  }
}
