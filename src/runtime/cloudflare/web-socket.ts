import { onAbort } from "../../core/http/abort-signals.ts";
import type { ServerSocket, SocketListener, UpgradeToWebSocket } from "../../core/ports/web-socket.ts";

/**
 * WebSockets of Workers. A connection lives in the request that started it. The runtime holds incomplete messages of up to
 * 32 MiB outside of the isolate's heap. It does not report what the client has read.
 */
export const upgradeWebSocket: UpgradeToWebSocket = ({ signal }, listen, { protocol }) => {
  const { 0: client, 1: server } = new WebSocketPair();
  server.accept();
  const listener = listen(toServerSocket(server));
  forwardEvents(server, listener);
  // The socket of a client that leaves before it gets the handshake reports no close.
  onAbort(signal, () => listener.onClose());
  const headers = protocol === undefined ? undefined : { "sec-websocket-protocol": protocol };
  return new Response(null, { status: 101, webSocket: client, ...(headers && { headers }) });
};

/** A socket of the runtime as the program sees it. */
export function toServerSocket(socket: WebSocket): ServerSocket {
  return {
    send: (text) => {
      if (socket.readyState === WebSocket.OPEN) socket.send(text);
      return null;
    },
    close: (code, reason) => {
      if (socket.readyState === WebSocket.OPEN) socket.close(code, reason);
    },
  };
}

/** Passes the events of a socket on. */
export function forwardEvents(socket: WebSocket, listener: SocketListener): void {
  socket.addEventListener("message", ({ data }) =>
    listener.onMessage(typeof data === "string" ? data : null),
  );
  socket.addEventListener("close", ({ code }) => {
    // The runtime does not answer a close frame by itself.
    if (socket.readyState !== WebSocket.CLOSED) socket.close();
    listener.onClose(code);
  });
  socket.addEventListener("error", () => listener.onClose());
}
