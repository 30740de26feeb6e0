import { Buffer } from "node:buffer";
import { IncomingMessage } from "node:http";
import { Socket } from "node:net";
import { type WebSocket, WebSocketServer } from "ws";
import { MAX_MESSAGE_BYTES, type SocketListener, type Upgrade } from "../web-socket.ts";
import { ConnectionStream, type RawUpgrade, takeConnection } from "./raw-connection.ts";

/** A connection on which nothing comes is asked for a sign of life so often, milliseconds, and cut when none has come by the next time. */
const PING_MS = 30_000;

/** A client that reads no answers to its pings gets no more of them, beyond so many unsent bytes. */
const MAX_UNSENT_PONGS = 65_536;

const server = new WebSocketServer({
  noServer: true,
  maxPayload: MAX_MESSAGE_BYTES,
  perMessageDeflate: false,
  clientTracking: false,
  autoPong: false,
});

/** WebSockets of a process, over the raw connection: every byte that a client sends is counted before it is kept. */
export const upgrade: Upgrade = (request, listen) => {
  const handshake = handshakeOf(request);
  let socket: WebSocket | undefined;
  let alive = true;
  const listener = listen({
    send: (text) =>
      new Promise((resolve) => {
        if (socket === undefined) resolve();
        else socket.send(text, () => resolve());
      }),
    close: (code, reason) => socket?.close(code, reason),
  });
  const { conn, response } = takenConnection(request, listener);
  const stream = new ConnectionStream(conn, (bytes) => {
    alive = true;
    return listener.receive(bytes);
  });
  server.handleUpgrade(handshake, stream, Buffer.alloc(0), (opened) => {
    socket = opened;
    relay(opened, stream, listener);
    const pings = setInterval(() => {
      if (alive) opened.ping();
      else opened.terminate();
      alive = false;
    }, PING_MS);
    opened.on("close", () => clearInterval(pings));
  });
  // The library has refused the handshake, and closed the connection.
  if (socket === undefined) listener.closed();
  return response;
};

function takenConnection(request: Request, listener: SocketListener): RawUpgrade {
  try {
    return takeConnection(request);
  } catch (thrown) {
    listener.closed();
    throw thrown;
  }
}

/** What the library reads of a handshake that the program has checked. Nothing else of the request is needed. */
function handshakeOf(request: Request): IncomingMessage {
  const message = new IncomingMessage(new Socket());
  message.method = "GET";
  message.headers = {
    upgrade: "websocket",
    "sec-websocket-version": "13",
    "sec-websocket-key": request.headers.get("sec-websocket-key") ?? "",
  };
  return message;
}

function relay(socket: WebSocket, stream: ConnectionStream, listener: SocketListener): void {
  socket.on("message", (data, isBinary) => listener.message(isBinary ? null : data.toString()));
  socket.on("ping", (data) => {
    if (stream.writableLength < MAX_UNSENT_PONGS) socket.pong(data);
  });
  // A close follows each error.
  socket.on("error", () => undefined);
  socket.on("close", () => listener.closed());
}
