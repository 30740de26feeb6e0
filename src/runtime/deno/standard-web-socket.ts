import { sleep } from "../../core/ports/clock.ts";
import {
  MAX_MESSAGE_BYTES,
  type ServerSocket,
  type SocketListener,
  type UpgradeToWebSocket,
} from "../../core/ports/web-socket.ts";

/** Close code of RFC 6455: the message is too big. */
const CLOSE_TOO_BIG = 1009;

/** Unsent bytes from which a sender waits, and milliseconds between two looks at them. */
const MAX_UNSENT_BYTES = 65_536;
const UNSENT_CHECK_MS = 20;

/**
 * WebSockets as Deno implements them. Deno collects the parts of a message without a limit, reads also while the program
 * is busy, and answers pings by itself. So a caller can fill the memory: do not use it for strangers.
 */
export const upgradeStandardWebSocket: UpgradeToWebSocket = (request, listen, { protocol }) => {
  const { socket, response } = Deno.upgradeWebSocket(request);
  // Deno accepts only one of several offered protocols if a blank follows each comma.
  if (protocol !== undefined) response.headers.set("sec-websocket-protocol", protocol);
  forwardEvents(socket, listen(toServerSocket(socket)));
  return response;
};

function toServerSocket(socket: WebSocket): ServerSocket {
  const opened = new Promise((resolve) => {
    for (const event of ["open", "error", "close"]) socket.addEventListener(event, resolve, { once: true });
  });
  return {
    send: async (text) => {
      await opened;
      if (socket.readyState === WebSocket.OPEN) socket.send(text);
      while (socket.readyState === WebSocket.OPEN && socket.bufferedAmount > MAX_UNSENT_BYTES)
        await sleep(UNSENT_CHECK_MS);
    },
    close: (code, reason) => {
      void opened.then(() => socket.close(code, reason));
    },
  };
}

function forwardEvents(socket: WebSocket, listener: SocketListener): void {
  socket.addEventListener("message", ({ data }) => {
    if (typeof data === "string" && data.length > MAX_MESSAGE_BYTES) socket.close(CLOSE_TOO_BIG);
    else listener.onMessage(typeof data === "string" ? data : null);
  });
  socket.addEventListener("close", ({ code }) => listener.onClose(code));
  // No close event follows if the handshake failed.
  socket.addEventListener("error", () => listener.onClose());
}
