import type { Upgrade } from "../web-socket.ts";

/** WebSockets of a process. The runtime's own pings find out who has left without a word. */
export const upgrade: Upgrade = (request, listen) => {
  const { socket, response } = Deno.upgradeWebSocket(request);
  const isOpen = () => socket.readyState === WebSocket.OPEN;
  const listener = listen({
    get waiting() {
      return socket.bufferedAmount;
    },
    send: (text) => {
      if (isOpen()) socket.send(text);
    },
    close: (code, reason) => {
      if (isOpen()) socket.close(code, reason);
    },
  });
  socket.addEventListener("message", ({ data }) => listener.message(typeof data === "string" ? data : null));
  socket.addEventListener("close", () => listener.closed());
  socket.addEventListener("error", () => listener.closed());
  return response;
};
