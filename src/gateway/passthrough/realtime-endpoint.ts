import { GatewayError } from "../../core/errors/gateway-error.ts";
import { callerEndpoint } from "../../core/routing/endpoint.ts";
import { validateHandshake, wantsWebSocket } from "../dialects/shared/web-socket-handshake.ts";

/** `GET /v1/realtime` with an upgrade: speaks with a model over a WebSocket. */
export const REALTIME_ENDPOINT = callerEndpoint({
  method: "GET",
  path: ["/v1/realtime"],
  summary: "Speak with a model over a WebSocket",
  statuses: { 501: "The provider does not have the endpoint." },
  answers: () => ({}),
  handler: async (context, { caller }) => {
    const { headers } = context.request;
    if (!wantsWebSocket(headers)) {
      throw new GatewayError(405, "GET is not allowed on /v1/realtime but to open a WebSocket", {
        code: "method_not_allowed",
        headers: { allow: "OPTIONS" },
      });
    }
    validateHandshake(headers);
    const { openRealtime } = await import("./realtime.ts");
    return openRealtime(context, caller);
  },
});
