import { Buffer } from "node:buffer";
import { IncomingMessage } from "node:http";
import { Socket } from "node:net";
import { WebSocket, WebSocketServer } from "ws";
import { ByteCollector } from "../../core/encoding/byte-collector.ts";
import {
  MAX_MESSAGE_BYTES,
  type OpenedSocket,
  type OpenWebSocket,
  type ServerSocket,
  type SocketListener,
  type UpgradeToWebSocket,
} from "../../core/ports/web-socket.ts";
import { ConnectionStream, canTakeOver, type TakenConnection, takeOverConnection } from "./raw-connection.ts";
import { upgradeStandardWebSocket } from "./standard-web-socket.ts";

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

/**
 * WebSockets of a process, over the raw connection: every byte that a client sends is counted before it is stored. Where
 * Deno does not give it away, callers with a key get Deno's own WebSockets.
 */
export const upgradeWebSocket: UpgradeToWebSocket = (request, listen, options) => {
  if (!canTakeOver && options.isKnown) return upgradeStandardWebSocket(request, listen, options);
  const { protocol } = options;
  const handshake = createHandshakeMessage(request, protocol);
  let socket: WebSocket | undefined;
  let isAlive = true;
  const listener = listen({
    send: (text) =>
      new Promise((resolve) => {
        if (socket === undefined) resolve();
        else socket.send(text, () => resolve());
      }),
    close: (code, reason) => socket?.close(code, reason),
    pause: () => socket?.pause(),
    resume: () => socket?.resume(),
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
function createHandshakeMessage(request: Request, protocol: string | undefined): IncomingMessage {
  const message = new IncomingMessage(new Socket());
  message.method = "GET";
  message.headers = {
    upgrade: "websocket",
    "sec-websocket-version": "13",
    "sec-websocket-key": request.headers.get("sec-websocket-key") ?? "",
    ...(protocol === undefined ? {} : { "sec-websocket-protocol": protocol }),
  };
  return message;
}

function forwardEvents(socket: WebSocket, stream: ConnectionStream, listener: SocketListener): void {
  forwardMessages(socket, listener);
  socket.on("ping", (data) => {
    if (stream.writableLength < MAX_UNSENT_PONGS) socket.pong(data);
  });
  // A close event follows each error event.
  socket.on("error", () => undefined);
  socket.on("close", (code) => listener.onClose(code));
  // The library's own close event, with the code, precedes this one. A receiver that is stuck has none.
  stream.once("close", () => setTimeout(() => listener.onClose(), 0));
}

/** Forwards messages. If the listener fails, the connection is cut: the library's receiver would be stuck. */
function forwardMessages(socket: WebSocket, listener: SocketListener): void {
  socket.on("message", (data, isBinary) => {
    try {
      listener.onMessage(isBinary ? null : data.toString());
    } catch (thrown) {
      reportError(thrown);
      socket.terminate();
    }
  });
}

/** The longest handshake of a provider, milliseconds, and the longest refusal, in bytes. */
const HANDSHAKE_MS = 30_000;
const MAX_REFUSAL_BYTES = 64 * 1024;

/** Opens a WebSocket to a provider. The signal ends the handshake only. */
export const openWebSocket: OpenWebSocket = (url, headers, signal) => {
  signal.throwIfAborted();
  const { promise, resolve, reject } = Promise.withResolvers<OpenedSocket | Response>();
  const socket = new WebSocket(url.replace(/^http/, "ws"), {
    headers: { ...headers },
    followRedirects: false,
    handshakeTimeout: HANDSHAKE_MS,
    maxPayload: MAX_MESSAGE_BYTES,
    perMessageDeflate: false,
  });
  const stop = () => socket.terminate();
  signal.addEventListener("abort", stop, { once: true });
  socket.on("open", () => {
    // Until a listener is set.
    socket.pause();
    resolve({ listen: (listener) => listenTo(socket, listener) });
  });
  socket.on("unexpected-response", (request, response) => {
    readRefusal(response).then((refusal) => {
      request.destroy();
      resolve(refusal);
    }, reject);
  });
  socket.on("error", (error) => reject(signal.aborted ? signal.reason : error));
  socket.on("close", () => reject(new TypeError("the provider closed the connection")));
  return promise.finally(() => signal.removeEventListener("abort", stop));
};

function listenTo(socket: WebSocket, listener: SocketListener): ServerSocket {
  const pings = setInterval(() => {
    if (socket.readyState === WebSocket.OPEN) socket.ping();
  }, PING_MS);
  forwardMessages(socket, listener);
  socket.on("close", (code) => {
    clearInterval(pings);
    listener.onClose(code);
  });
  socket.resume();
  return {
    send: (text) => new Promise((resolve) => socket.send(text, () => resolve())),
    close: (code, reason) => socket.close(code, reason),
    pause: () => socket.pause(),
    resume: () => socket.resume(),
  };
}

/** Reads the answer of a provider that refuses the handshake. */
async function readRefusal(message: IncomingMessage): Promise<Response> {
  const { statusCode = 502, headers } = message;
  const bytes = new ByteCollector();
  for await (const piece of message) {
    bytes.push(piece);
    if (bytes.length > MAX_REFUSAL_BYTES) break;
  }
  const type = headers["content-type"];
  const wait = headers["retry-after"];
  const status = statusCode < 400 || statusCode > 599 ? 502 : statusCode;
  return new Response(bytes.join(), {
    status,
    headers: {
      ...(type === undefined ? {} : { "content-type": type }),
      ...(wait === undefined ? {} : { "retry-after": wait }),
    },
  });
}
