import { once } from "node:events";
import { WebSocket } from "ws";
import { isObject, type JsonObject } from "../../src/core/encoding/json.ts";

/** Options for a WebSocket of the responses style. */
export interface SocketClient {
  /** Credential of the client. */
  readonly key: string;
  /** Address of the client, if the gateway trusts `cf-connecting-ip`. */
  readonly address?: string;
}

/** The client end of a WebSocket of the responses style. */
export class TestSocket {
  readonly #socket: WebSocket;
  readonly #messages: JsonObject[] = [];
  #wake: () => void = () => undefined;
  #closeCode: number | null = null;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.on("message", (data) => {
      const message: unknown = JSON.parse(data.toString());
      if (isObject(message)) this.#messages.push(message);
      this.#wake();
    });
    socket.on("close", (code) => {
      this.#closeCode = code;
      this.#wake();
    });
    // A close event follows each error.
    socket.on("error", () => undefined);
  }

  /** Opens a connection. If the gateway rejects the handshake, returns the status; 0: no response. */
  static async open({ url }: { readonly url: string }, client: SocketClient): Promise<TestSocket | number> {
    const headers = {
      authorization: `Bearer ${client.key}`,
      ...(client.address === undefined ? {} : { "cf-connecting-ip": client.address }),
    };
    const socket = new WebSocket(`${url.replace(/^http/, "ws")}/v1/responses`, {
      headers,
      perMessageDeflate: false,
    });
    const opened = new TestSocket(socket);
    return new Promise((resolve) => {
      socket.once("open", () => resolve(opened));
      socket.once("unexpected-response", (request, response) => {
        request.destroy();
        resolve(response.statusCode ?? 0);
      });
      socket.once("close", () => resolve(0));
    });
  }

  /** Close code of the connection; null while it is open. */
  get closeCode(): number | null {
    return this.#closeCode;
  }

  /** Received messages that `next` has not returned yet. */
  get pending(): readonly JsonObject[] {
    return this.#messages;
  }

  send(body: JsonObject): void {
    this.#socket.send(JSON.stringify(body));
  }

  /** Requests an empty response with this many characters of input, which the connection stores. */
  keep(characters: number, extra: JsonObject = {}): void {
    const input = "x".repeat(characters);
    this.send({ type: "response.create", model: "gpt-5", generate: false, store: false, input, ...extra });
  }

  /** Sends a part of a message that never ends. Resolves when the part is sent or the connection has closed. */
  sendPart(bytes: number): Promise<void> {
    return new Promise((resolve) => {
      if (this.#socket.readyState !== WebSocket.OPEN) resolve();
      else this.#socket.send("x".repeat(bytes), { fin: false }, () => resolve());
    });
  }

  /** Resolves when the network has taken all sent data or the connection has closed. */
  async flush(): Promise<void> {
    while (this.#socket.bufferedAmount > 0 && this.#closeCode === null) {
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }

  /** Returns the next message that `wanted` accepts; null if the connection closes first. */
  async next(wanted: (message: JsonObject) => boolean = () => true): Promise<JsonObject | null> {
    for (;;) {
      for (let message = this.#messages.shift(); message !== undefined; message = this.#messages.shift()) {
        if (wanted(message)) return message;
      }
      if (this.#closeCode !== null) return null;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** Returns the id of the current turn's response, or the error that ends the turn. */
  async outcome(): Promise<{ readonly id?: string; readonly code?: unknown } | null> {
    const last = await this.next(({ type }) => type === "error" || type === "response.completed");
    if (last === null) return null;
    const { error, response } = last;
    if (isObject(error)) return { code: error["code"] };
    return isObject(response) ? { id: String(response["id"]) } : {};
  }

  /** Stops reading. */
  stopReading(): void {
    this.#socket.pause();
  }

  /** Resumes reading. */
  readOn(): void {
    this.#socket.resume();
  }

  /** Terminates the connection. */
  async end(): Promise<void> {
    if (this.#socket.readyState === WebSocket.CLOSED) return;
    this.#socket.resume();
    const closed = once(this.#socket, "close");
    this.#socket.terminate();
    await closed;
  }
}

/** WebSockets of many clients: the open ones, and the statuses of rejected handshakes. */
export class WebSocketClients {
  readonly sockets: TestSocket[] = [];
  /** Statuses of rejected handshakes. */
  readonly refusals: number[] = [];
  readonly #gateway: { readonly url: string };

  constructor(gateway: { readonly url: string }) {
    this.#gateway = gateway;
  }

  /** Opens `count` connections one after the other. Returns those that the gateway accepted. */
  async open(
    count: number,
    clientOf: (index: number) => SocketClient = strangerNumber,
  ): Promise<readonly TestSocket[]> {
    const opened: TestSocket[] = [];
    for (let index = 0; index < count; index += 1) {
      const socket = await TestSocket.open(this.#gateway, clientOf(index));
      if (typeof socket === "number") this.refusals.push(socket);
      else opened.push(socket);
    }
    this.sockets.push(...opened);
    return opened;
  }

  /** Terminates all connections. */
  async end(): Promise<void> {
    await Promise.all(this.sockets.splice(0).map((socket) => socket.end()));
  }
}

/** A client with a token that no provider knows. */
export const strangerNumber = (index: number): SocketClient => ({ key: `made-up-${index}` });
