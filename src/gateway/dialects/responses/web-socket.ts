import { GatewayError, invalidRequest } from "../../../core/errors/gateway-error.ts";
import { callerEndpoint } from "../../../core/routing/endpoint.ts";
import { copyRequestHeaders, ResponsesConnection } from "./connection.ts";

const WEBSOCKET_VERSION = "13";

/**
 * `GET /v1/responses` with an upgrade (contract): creates responses one after another over a WebSocket.
 *
 * @throws GatewayError 405 for a request without an upgrade, 400 and 426 for a handshake that violates RFC 6455, 503 if the
 * memory budget has no room for another connection.
 */
export const openConnection = callerEndpoint({
  method: "GET",
  path: ["/v1/responses", "/responses"],
  summary: "Create responses over a WebSocket",
  answers: () => ({}),
  handler: (context) => {
    const { request, platform } = context;
    if (request.headers.get("upgrade")?.toLowerCase() !== "websocket") {
      throw new GatewayError(405, "GET is not allowed on /v1/responses but to open a WebSocket", {
        code: "method_not_allowed",
        headers: { allow: "POST, OPTIONS" },
      });
    }
    validateHandshake(request.headers);
    const headers = copyRequestHeaders(request);
    return platform.upgradeToWebSocket(
      request,
      (socket) => new ResponsesConnection(context, headers, socket),
    );
  },
});

/** Validates the handshake (RFC 6455, section 4.2.1), because not every runtime does. */
function validateHandshake(headers: Headers): void {
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
