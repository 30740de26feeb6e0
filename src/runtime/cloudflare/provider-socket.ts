import type { OpenWebSocket } from "../../core/ports/web-socket.ts";
import { forwardEvents, toServerSocket } from "./web-socket.ts";

/** Opens a WebSocket to a provider. The signal ends the handshake only. */
export const openWebSocket: OpenWebSocket = async (url, headers, signal) => {
  const handshake = new AbortController();
  const stop = () => handshake.abort(signal.reason);
  signal.addEventListener("abort", stop, { once: true });
  try {
    signal.throwIfAborted();
    const init = { headers: { ...headers, upgrade: "websocket" }, signal: handshake.signal };
    const response = await fetch(url, { ...init, redirect: "manual" });
    const { webSocket } = response;
    if (webSocket === null) return response;
    return {
      listen: (listener) => {
        webSocket.accept();
        forwardEvents(webSocket, listener);
        return toServerSocket(webSocket);
      },
    };
  } finally {
    signal.removeEventListener("abort", stop);
  }
};
