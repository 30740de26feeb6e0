import { Buffer } from "node:buffer";
import { IncomingMessage } from "node:http";
import { Socket } from "node:net";
import { type WebSocket, WebSocketServer } from "ws";
import {
  MAX_MESSAGE_BYTES,
  type SocketListener,
  type UpgradeToWebSocket,
} from "../../core/ports/web-socket.ts";
import { ConnectionStream, type TakenConnection, takeOverConnection } from "./raw-connection.ts";

/** Interval of pings on an idle connection, milliseconds. Without any bytes until the next ping the connection is cut. */
const PING_MS = 30_000;

/** Limit of unsent bytes to a client; beyond it, its pings get no answers. */
const MAX_UNSENT_PONGS = 65_536;

const server = new WebSocketServer({
  noServer: true,
  maxPayload: MAX_MESSAGE_BYTES,
  perMessageDeflate: false,
  clientTracking: false,
  autoPong: false,
});

/** WebSockets of a process, over the raw connection: every byte that a client sends is counted before it is stored. */
export const upgradeWebSocket: UpgradeToWebSocket = (request, listen) => {
  const handshake = createHandshakeMessage(request);
  let socket: WebSocket | undefined;
  let isAlive = true;
  const listener = listen({
    send: (text) =>
      new Promise((resolve) => {
        if (socket === undefined) resolve();
        else socket.send(text, () => resolve());
      }),
    close: (code, reason) => socket?.close(code, reason),
  });
  const { conn, response } = takeOverOrClose(request, listener);
  const stream = new ConnectionStream(conn, (bytes) => {
    isAlive = true;
    return listener.onBytes(bytes);
  });
  server.handleUpgrade(handshake, stream, Buffer.alloc(0), (webSocket) => {
    socket = webSocket;
    forwardEvents(webSocket, stream, listener);
    const pings = setInterval(() => {
      if (isAlive) webSocket.ping();
      else webSocket.terminate();
      isAlive = false;
    }, PING_MS);
    webSocket.on("close", () => clearInterval(pings));
  });
  // The library has rejected the handshake and closed the connection.
  if (socket === undefined) listener.onClose();
  return response;
};

function takeOverOrClose(request: Request, listener: SocketListener): TakenConnection {
  try {
    return takeOverConnection(request);
  } catch (error) {
    listener.onClose();
    throw error;
  }
}

/** The part of a checked handshake that the library reads. */
function createHandshakeMessage(request: Request): IncomingMessage {
  const message = new IncomingMessage(new Socket());
  message.method = "GET";
  message.headers = {
    upgrade: "websocket",
    "sec-websocket-version": "13",
    "sec-websocket-key": request.headers.get("sec-websocket-key") ?? "",
  };
  return message;
}

function forwardEvents(socket: WebSocket, stream: ConnectionStream, listener: SocketListener): void {
  socket.on("message", (data, isBinary) => listener.onMessage(isBinary ? null : data.toString()));
  socket.on("ping", (data) => {
    if (stream.writableLength < MAX_UNSENT_PONGS) socket.pong(data);
  });
  // A close event follows each error event.
  socket.on("error", () => undefined);
  socket.on("close", () => listener.onClose());
}
