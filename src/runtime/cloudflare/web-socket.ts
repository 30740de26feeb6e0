import type { UpgradeToWebSocket } from "../../core/ports/web-socket.ts";

/**
 * WebSockets of Workers. A connection lives in the request that started it. The runtime holds incomplete messages of up to
 * 32 MiB outside of the isolate's heap. It does not report what the client has read.
 */
export const upgradeWebSocket: UpgradeToWebSocket = (_request, listen) => {
  const { 0: client, 1: server } = new WebSocketPair();
  server.accept();
  const listener = listen({
    send: (text) => {
      if (server.readyState === WebSocket.OPEN) server.send(text);
      return null;
    },
    close: (code, reason) => {
      if (server.readyState === WebSocket.OPEN) server.close(code, reason);
    },
  });
  server.addEventListener("message", ({ data }) =>
    listener.onMessage(typeof data === "string" ? data : null),
  );
  server.addEventListener("close", () => {
    // The runtime does not answer a close frame by itself.
    if (server.readyState !== WebSocket.CLOSED) server.close();
    listener.onClose();
  });
  server.addEventListener("error", () => listener.onClose());
  return new Response(null, { status: 101, webSocket: client });
};
