import { once } from "node:events";
import { connect, type Socket } from "node:net";

const TEXT = 0x1;
const CONTINUATION = 0x0;
/** FIN bit of a frame. */
const FINAL = 0x80;

/** A WebSocket client that can send any frames, also messages without an end (RFC 6455, section 5.2). */
export class RawWebSocket {
  readonly #socket: Socket;
  /** Bytes received so far. */
  received = 0;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on("data", (bytes) => {
      this.received += bytes.length;
    });
  }

  /** Opens `path` at `url` with a key. Rejects if the server does not switch protocols. */
  static async open(url: string, path: string, key: string): Promise<RawWebSocket> {
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname);
    socket.on("error", () => undefined);
    await once(socket, "connect");
    socket.write(
      `GET ${path} HTTP/1.1\r\nHost: gateway\r\nAuthorization: Bearer ${key}\r\nConnection: Upgrade\r\n` +
        "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
    );
    const [head]: Buffer[] = await Promise.race([once(socket, "data"), once(socket, "close")]);
    if (head?.toString("latin1").startsWith("HTTP/1.1 101") !== true) {
      socket.destroy();
      throw new Error("the server opened no WebSocket");
    }
    return new RawWebSocket(socket);
  }

  get isOpen(): boolean {
    return !this.#socket.destroyed && this.#socket.readable;
  }

  /** Sends a whole message. */
  send(text: string): void {
    this.#frame(FINAL | TEXT, Buffer.from(text));
  }

  /** Sends the first part of a message, or with `goesOn` a further part, but never the last one. */
  sendPart(text: string, goesOn = false): void {
    this.#frame(goesOn ? CONTINUATION : TEXT, Buffer.from(text));
  }

  close(): void {
    this.#socket.destroy();
  }

  /** Clients must mask frames. A mask of zeros leaves the bytes unchanged. */
  #frame(first: number, payload: Buffer): void {
    if (this.#socket.destroyed) return;
    const head = Buffer.alloc(14);
    head[0] = first;
    head[1] = FINAL | 127;
    head.writeBigUInt64BE(BigInt(payload.length), 2);
    this.#socket.write(head);
    this.#socket.write(payload);
  }
}
