import { GatewayError } from "../../errors/gateway-error.ts";
import { forCallers } from "../../routing/endpoint.ts";
import { ResponsesConnection, turnHeaders } from "./connection.ts";

/**
 * `GET /v1/responses` with an upgrade (contract): one response after another over a WebSocket.
 *
 * @throws GatewayError 405 for a request without an upgrade.
 */
export const openConnection = forCallers({
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
    const headers = turnHeaders(request);
    return platform.upgrade(request, (socket) => new ResponsesConnection(context, headers, socket));
  },
});
