import { GatewayError } from "../../../core/errors/gateway-error.ts";
import { callerEndpoint } from "../../../core/routing/endpoint.ts";
import { validateHandshake, wantsWebSocket } from "../shared/web-socket-handshake.ts";
import { copyRequestHeaders, ResponsesConnection } from "./connection.ts";

/**
 * `GET /v1/responses` with an upgrade (docs/contract/generations.md): creates responses one after another over a WebSocket.
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
    if (!wantsWebSocket(request.headers)) {
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
      { isKnown: context.memory.isKnown },
    );
  },
});
