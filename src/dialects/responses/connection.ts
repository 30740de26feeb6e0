import { isObject, type JsonObject } from "../../encoding/json.ts";
import { GatewayError, invalidRequest, toGatewayError } from "../../errors/gateway-error.ts";
import { holdJsonText, tooLarge } from "../../http/json-text.ts";
import { costOfText } from "../../http/value-cost.ts";
import type { Context } from "../../platform/context.ts";
import { MAX_MESSAGE_BYTES, type ServerSocket, type SocketListener } from "../../platform/web-socket.ts";
import { errorObject } from "../../routing/error-formats.ts";
import { optionalString } from "../shared/members.ts";
import { LatestResponses } from "./connection-responses.ts";
import { UnreadMessages } from "./unread-messages.ts";

/** How long a connection may last, and how long nothing may be asked over it, in milliseconds. */
export interface ConnectionLimits {
  readonly lifeMs: number;
  readonly idleMs: number;
}

/** An hour is what the real service gives a connection. */
const LIMITS: ConnectionLimits = { lifeMs: 3_600_000, idleMs: 600_000 };

/** Messages that may wait while a response is made. */
const MAX_WAITING = 8;

/** Characters of the `stream_id` that every event of an answer repeats. */
const MAX_STREAM_ID = 256;

/** What a connection holds in any case, bytes (docs/performance.md). */
const CONNECTION_BYTES = 128 * 1024;

/** Status codes of RFC 6455: the connection has done what it was for; the server has no room. */
const NORMAL = 1000;
const TRY_AGAIN_LATER = 1013;

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
    throw invalidRequest("only messages of the type response.create are known", "type");
  }
  if (lane === undefined || lane === null) return { body, lane: undefined };
  if (typeof lane !== "string" || lane.length > MAX_STREAM_ID) {
    throw invalidRequest(`stream_id must be a string of at most ${MAX_STREAM_ID} characters`, "stream_id");
  }
  return { body, lane };
}

/** A message that waits for its turn, and the bytes that are held for it. */
interface WaitingMessage {
  readonly text: string;
  readonly bytes: number;
}

/**
 * One WebSocket of the responses style. Each message is served as the request that it would be over HTTP, by itself and in
 * its turn: access, limits, history and log are those of a request. When the connection ends, so does the response that
 * is being made. The hold of the request that opened the connection counts what the connection keeps in memory, until the
 * runtime reports the end of the connection.
 */
export class ResponsesConnection implements SocketListener {
  readonly #context: Context;
  readonly #headers: Headers;
  readonly #socket: ServerSocket;
  readonly #limits: ConnectionLimits;
  readonly #responses: LatestResponses;
  readonly #unread: UnreadMessages;
  readonly #waiting: WaitingMessage[] = [];
  /** Ends the turn under way. A signal keeps the request that it was given to: it goes with the turn. */
  #turnAbort: AbortController | undefined;
  #ended = false;
  readonly #life: ReturnType<typeof setTimeout>;
  #idle: ReturnType<typeof setTimeout> | undefined;
  /** Bytes that are held for a message that is not complete. */
  #partialBytes = 0;
  #busy = false;
  #expired = false;

  /**
   * `headers` are those of {@link turnHeaders}.
   *
   * @throws GatewayError 503 when there is no memory for another connection.
   */
  constructor(context: Context, headers: Headers, socket: ServerSocket, limits = LIMITS) {
    context.hold.demand(CONNECTION_BYTES);
    this.#context = context;
    this.#headers = headers;
    this.#socket = socket;
    this.#limits = limits;
    this.#responses = new LatestResponses(context.hold);
    this.#unread = new UnreadMessages(context.hold, socket);
    this.#life = setTimeout(() => this.#expire(), limits.lifeMs);
    this.#rest();
  }

  receive(bytes: number): boolean {
    if (!this.#context.hold.take(bytes)) {
      this.#end("there is no memory for the message", TRY_AGAIN_LATER);
      return false;
    }
    this.#partialBytes += bytes;
    return true;
  }

  message(text: string | null): void {
    const partialBytes = this.#partialBytes;
    this.#partialBytes = 0;
    if (this.#ended) return;
    if (this.#unread.tooMany) this.#replace("too much of what was sent over the connection is unread");
    else if (text === null) this.#refuse(invalidRequest("messages must be text"));
    else if (text.length > MAX_MESSAGE_BYTES) this.#refuse(tooLarge(MAX_MESSAGE_BYTES));
    else if (this.#waiting.length >= MAX_WAITING) {
      const message = `more than ${MAX_WAITING} messages are waiting`;
      this.#refuse(new GatewayError(429, message, { code: "concurrency_limit_exceeded" }));
    } else this.#take(text);
    this.#context.hold.giveBack(partialBytes);
  }

  /** Lets a message wait for its turn, if there is memory for it. */
  #take(text: string): void {
    const bytes = costOfText(text);
    try {
      this.#context.hold.demand(bytes);
    } catch (thrown) {
      this.#refuse(toGatewayError(thrown, this.#context.requestId));
      return;
    }
    this.#waiting.push({ text, bytes });
    // What is under way goes on, and is given back, also when the connection has ended.
    if (!this.#busy) this.#context.waitUntil(this.#work());
  }

  closed(): void {
    this.#stop();
    this.#context.hold.end();
  }

  /** Ends the work. What is still in memory stays counted until the runtime reports the end. */
  #stop(): void {
    clearTimeout(this.#life);
    clearTimeout(this.#idle);
    for (const { bytes } of this.#waiting.splice(0)) this.#context.hold.giveBack(bytes);
    this.#responses.clear();
    this.#ended = true;
    this.#turnAbort?.abort();
  }

  async #work(): Promise<void> {
    this.#busy = true;
    clearTimeout(this.#idle);
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      await this.#turn(next);
      if (this.#expired) break;
    }
    this.#busy = false;
    if (this.#expired) this.#expire();
    else if (!this.#ended) this.#rest();
  }

  #rest(): void {
    this.#idle = setTimeout(() => this.#end("nothing was asked for too long"), this.#limits.idleMs);
  }

  #end(reason: string, code = NORMAL): void {
    this.#socket.close(code, reason);
    this.#stop();
  }

  /** A response that is being made is finished first. */
  #expire(): void {
    this.#expired = true;
    if (!this.#busy && !this.#ended) this.#replace("the connection has reached its longest life");
  }

  /** Ends the connection, and asks the client for another one. */
  #replace(reason: string): void {
    const message = `${reason}: open another one`;
    this.#refuse(new GatewayError(400, message, { code: "websocket_connection_limit_reached" }));
    this.#end(reason);
  }

  /** Serves one message. A response that it could not go on from is forgotten: it might go wrong for ever. */
  async #turn({ text, bytes }: WaitingMessage): Promise<void> {
    let previous: string | undefined;
    let lane: string | undefined;
    let succeeded = false;
    const { hold } = this.#context;
    let held = bytes;
    try {
      held += holdJsonText(text, hold);
      const ask = askIn(text);
      lane = ask.lane;
      previous = optionalString(ask.body, "previous_response_id");
      this.#unread.startTurn(previous);
      const abort = new AbortController();
      this.#turnAbort = abort;
      const request = this.#requestOf(ask.body, abort.signal);
      // From here on the request holds its own.
      hold.giveBack(held);
      held = 0;
      succeeded = await this.#answer(request, lane, abort.signal);
    } catch (thrown) {
      if (!this.#ended) this.#refuse(toGatewayError(thrown, this.#context.requestId), lane);
    } finally {
      hold.giveBack(held);
      this.#turnAbort = undefined;
      this.#unread.endTurn(this.#responses.latest);
    }
    if (!succeeded && previous !== undefined) this.#responses.remove(previous);
  }

  /** Whether the answer is one that can be gone on from. */
  async #answer(request: Request, lane: string | undefined, signal: AbortSignal): Promise<boolean> {
    const response = await this.#context.serve(request, this.#responses);
    if (response.ok && response.body !== null) return this.#pass(response.body, lane, signal);
    const failure: unknown = await response.json();
    const error = isObject(failure) ? failure["error"] : undefined;
    await this.#send(JSON.stringify({ type: "error", status: response.status, error }), lane);
    return false;
  }

  #requestOf(body: JsonObject, signal: AbortSignal): Request {
    return new Request(this.#context.url, {
      method: "POST",
      headers: this.#headers,
      body: JSON.stringify({ ...body, stream: true }),
      signal,
    });
  }

  /** Passes the events of a stream on, one a message. Whether the last one was no failure. */
  async #pass(
    stream: ReadableStream<Uint8Array>,
    lane: string | undefined,
    signal: AbortSignal,
  ): Promise<boolean> {
    const reader = stream.getReader();
    const leave = () => void reader.cancel().catch(() => undefined);
    signal.addEventListener("abort", leave, { once: true });
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
            await this.#send(block.slice(block.indexOf("\ndata: ") + "\ndata: ".length), lane);
          }
        }
        text = text.slice(start);
      }
    } finally {
      signal.removeEventListener("abort", leave);
    }
    return last !== "" && !last.startsWith(FAILED);
  }

  #refuse(error: GatewayError, lane?: string): void {
    const { status } = error;
    void this.#send(JSON.stringify({ type: "error", status, error: errorObject(error) }), lane);
  }

  /** Sends a message, and waits for a client that is slow to read. Without memory for the message the connection ends. */
  async #send(json: string, lane: string | undefined): Promise<void> {
    if (this.#ended) return;
    const text = lane === undefined ? json : `{"stream_id":${JSON.stringify(lane)},${json.slice(1)}`;
    const sent = this.#unread.send(text);
    if (sent === null) this.#end("there is no memory for what is unread", TRY_AGAIN_LATER);
    else await sent;
  }
}
