import { isObject, type JsonObject } from "../../encoding/json.ts";
import { GatewayError, invalidRequest, toGatewayError } from "../../errors/gateway-error.ts";
import { holdJsonText, tooLarge } from "../../http/json-text.ts";
import type { Context } from "../../platform/context.ts";
import type { ServerSocket, SocketListener } from "../../platform/web-socket.ts";
import { errorObject } from "../../routing/error-formats.ts";
import { optionalString } from "../shared/members.ts";
import { LatestResponses } from "./connection-responses.ts";

/** How long a connection may last, and how long nothing may be asked over it, in milliseconds. */
export interface ConnectionLimits {
  readonly lifeMs: number;
  readonly idleMs: number;
}

/** An hour is what the real service gives a connection. */
const LIMITS: ConnectionLimits = { lifeMs: 3_600_000, idleMs: 600_000 };

/** Characters of a message: what a body may have; the request that it becomes is held to the limit in bytes. */
const MAX_MESSAGE = 32 * 1024 * 1024;
/** Messages that may wait while a response is made. */
const MAX_WAITING = 8;
/** A reader that has this much before it is waited for. */
const MAX_UNSENT = 1_000_000;
const UNSENT_CHECK_MS = 20;
/** One that goes on asking while it has so much before it is not waited for. */
const MOST_UNSENT = 4 * MAX_UNSENT;

/** RFC 6455: the connection has done what it was for. */
const NORMAL = 1000;

/** Headers of the handshake that are none of the requests that come over the connection. */
const HANDSHAKE =
  /^(?:connection|upgrade|host|content-|sec-websocket-|x-request-id$|accept-encoding$|transfer-)/;

const BLOCK_END = "\n\n";
const FAILED = "event: response.failed\n";

/** What the requests over a connection have of the one that opened it. Not to be had any more once it is upgraded. */
export function turnHeaders(request: Request): Headers {
  const headers = new Headers({ "content-type": "application/json" });
  for (const [name, value] of request.headers) if (!HANDSHAKE.test(name)) headers.set(name, value);
  return headers;
}

/** What one message asks for. */
interface Ask {
  readonly body: JsonObject;
  /** The lane that every event of the answer names. */
  readonly lane: string | undefined;
}

/** Reads a message. Throws 400 for what is no `response.create`. */
function askIn(text: string): Ask {
  let event: unknown;
  try {
    event = JSON.parse(text);
  } catch {
    throw new GatewayError(400, "invalid json: the message is not valid JSON", { code: "invalid json" });
  }
  if (!isObject(event)) throw invalidRequest("a message must be an object");
  const { type, stream_id: lane, stream: _, stream_options: __, ...body } = event;
  if (type !== "response.create") {
    throw invalidRequest(`a message of type ${JSON.stringify(type)} is not known`, "type");
  }
  return { body, lane: typeof lane === "string" ? lane : undefined };
}

/**
 * One WebSocket of the responses style. Each message is served as the request that it would be over HTTP, by itself and in
 * its turn: access, limits, history and log are those of a request. When the connection ends, so does the response that
 * is being made.
 */
export class ResponsesConnection implements SocketListener {
  readonly #context: Context;
  readonly #headers: Headers;
  readonly #socket: ServerSocket;
  readonly #limits: ConnectionLimits;
  readonly #responses = new LatestResponses();
  readonly #waiting: string[] = [];
  readonly #abort = new AbortController();
  readonly #life: ReturnType<typeof setTimeout>;
  #idle: ReturnType<typeof setTimeout> | undefined;
  #busy = false;
  #expired = false;

  /** `headers` are those of {@link turnHeaders}. */
  constructor(context: Context, headers: Headers, socket: ServerSocket, limits = LIMITS) {
    this.#context = context;
    this.#headers = headers;
    this.#socket = socket;
    this.#limits = limits;
    this.#life = setTimeout(() => this.#expire(), limits.lifeMs);
    this.#rest();
  }

  message(text: string | null): void {
    if (this.#socket.waiting > MOST_UNSENT) this.#end("nothing of what was sent is read");
    else if (text === null) this.#refuse(invalidRequest("messages must be text"));
    else if (text.length > MAX_MESSAGE) this.#refuse(tooLarge(MAX_MESSAGE));
    else if (this.#waiting.length >= MAX_WAITING) {
      const message = `more than ${MAX_WAITING} messages are waiting`;
      this.#refuse(new GatewayError(429, message, { code: "concurrency_limit_exceeded" }));
    } else this.#take(text);
  }

  /** Lets a message wait for its turn, if there is memory for it. */
  #take(text: string): void {
    try {
      this.#context.hold.demand(text.length);
    } catch (thrown) {
      this.#refuse(toGatewayError(thrown, this.#context.requestId));
      return;
    }
    this.#waiting.push(text);
    // What is under way goes on, and is given back, also when the connection has ended.
    if (!this.#busy) this.#context.waitUntil(this.#work());
  }

  closed(): void {
    clearTimeout(this.#life);
    clearTimeout(this.#idle);
    this.#waiting.length = 0;
    this.#context.hold.release();
    this.#abort.abort();
  }

  get #ended(): boolean {
    return this.#abort.signal.aborted;
  }

  async #work(): Promise<void> {
    this.#busy = true;
    clearTimeout(this.#idle);
    for (let text = this.#waiting.shift(); text !== undefined; text = this.#waiting.shift()) {
      await this.#turn(text);
      if (this.#expired) break;
    }
    this.#busy = false;
    if (this.#expired) this.#expire();
    else if (!this.#ended) this.#rest();
  }

  #rest(): void {
    this.#idle = setTimeout(() => this.#end("nothing was asked for too long"), this.#limits.idleMs);
  }

  #end(reason: string): void {
    this.#socket.close(NORMAL, reason);
    this.closed();
  }

  /** A response that is being made is finished first. */
  #expire(): void {
    this.#expired = true;
    if (this.#busy || this.#ended) return;
    const message = "the connection has reached its longest life: open another one";
    this.#refuse(new GatewayError(400, message, { code: "websocket_connection_limit_reached" }));
    this.#end("the connection has reached its longest life");
  }

  /** Serves one message. A response that it could not go on from is forgotten: it might go wrong for ever. */
  async #turn(text: string): Promise<void> {
    let previous: string | undefined;
    let lane: string | undefined;
    let succeeded = false;
    const { hold } = this.#context;
    let held = text.length;
    try {
      held += holdJsonText(text, hold);
      const ask = askIn(text);
      lane = ask.lane;
      previous = optionalString(ask.body, "previous_response_id");
      const request = this.#requestOf(ask.body);
      // From here on the request holds its own.
      hold.giveBack(held);
      held = 0;
      succeeded = await this.#answer(request, lane);
    } catch (thrown) {
      if (!this.#ended) this.#refuse(toGatewayError(thrown, this.#context.requestId), lane);
    } finally {
      hold.giveBack(held);
    }
    if (!succeeded && previous !== undefined) this.#responses.remove(previous);
  }

  /** Whether the answer is one that can be gone on from. */
  async #answer(request: Request, lane: string | undefined): Promise<boolean> {
    const response = await this.#context.serve(request, this.#responses);
    if (response.ok && response.body !== null) return this.#pass(response.body, lane);
    const failure: unknown = await response.json();
    const error = isObject(failure) ? failure["error"] : undefined;
    this.#send(JSON.stringify({ type: "error", status: response.status, error }), lane);
    return false;
  }

  #requestOf(body: JsonObject): Request {
    return new Request(this.#context.url, {
      method: "POST",
      headers: this.#headers,
      body: JSON.stringify({ ...body, stream: true }),
      signal: this.#abort.signal,
    });
  }

  /** Passes the events of a stream on, one a message. Whether the last one was no failure. */
  async #pass(stream: ReadableStream<Uint8Array>, lane: string | undefined): Promise<boolean> {
    const reader = stream.getReader();
    const leave = () => void reader.cancel().catch(() => undefined);
    this.#abort.signal.addEventListener("abort", leave, { once: true });
    const decoder = new TextDecoder();
    let text = "";
    let last = "";
    try {
      for (;;) {
        const { done, value } = await reader.read();
        if (done) break;
        text += decoder.decode(value, { stream: true });
        let start = 0;
        for (let end = text.indexOf(BLOCK_END); end >= 0; end = text.indexOf(BLOCK_END, start)) {
          const block = text.slice(start, end);
          start = end + BLOCK_END.length;
          if (block.startsWith("event: ")) {
            last = block;
            this.#send(block.slice(block.indexOf("\ndata: ") + "\ndata: ".length), lane);
          }
        }
        text = text.slice(start);
        await this.#room();
      }
    } finally {
      this.#abort.signal.removeEventListener("abort", leave);
    }
    return last !== "" && !last.startsWith(FAILED);
  }

  /** Waits for a reader that is slow. */
  async #room(): Promise<void> {
    while (this.#socket.waiting > MAX_UNSENT && !this.#ended) {
      await new Promise((resolve) => setTimeout(resolve, UNSENT_CHECK_MS));
    }
  }

  #refuse(error: GatewayError, lane?: string): void {
    const { status } = error;
    this.#send(JSON.stringify({ type: "error", status, error: errorObject(error) }), lane);
  }

  #send(json: string, lane: string | undefined): void {
    this.#socket.send(lane === undefined ? json : `{"stream_id":${JSON.stringify(lane)},${json.slice(1)}`);
  }
}
