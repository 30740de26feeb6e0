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

/** Maximum lifetime of a connection, and maximum time without a request, in milliseconds. */
export interface ConnectionLimits {
  readonly lifeMs: number;
  readonly idleMs: number;
}

/** The real service limits a connection to one hour, too. */
const LIMITS: ConnectionLimits = { lifeMs: 3_600_000, idleMs: 600_000 };

/** Maximum number of messages in the queue while a response is generated. */
const MAX_WAITING = 8;

/** Maximum length of `stream_id`, in characters. Every event of an answer repeats it. */
const MAX_STREAM_ID = 256;

/** Minimum memory of a connection, in bytes (docs/performance.md). */
const CONNECTION_BYTES = 128 * 1024;

/** Close codes of RFC 6455: normal closure, and the server has no capacity. */
const NORMAL = 1000;
const TRY_AGAIN_LATER = 1013;

/** Handshake headers that are not copied to the requests of the connection. */
const HANDSHAKE =
  /^(?:connection|upgrade|host|content-|sec-websocket-|x-request-id$|accept-encoding$|transfer-)/;

const BLOCK_END = "\n\n";
const FAILED = "event: response.failed\n";

/**
 * Copies the headers of the opening request that apply to every request of the connection. Call it before the upgrade,
 * because afterwards the headers cannot be read.
 */
export function turnHeaders(request: Request): Headers {
  const headers = new Headers({ "content-type": "application/json" });
  for (const [name, value] of request.headers) if (!HANDSHAKE.test(name)) headers.set(name, value);
  return headers;
}

/** The content of one message. */
interface Ask {
  readonly body: JsonObject;
  /** The `stream_id` of the message, repeated in every event of the answer. */
  readonly lane: string | undefined;
}

/**
 * Parses a message.
 *
 * @throws GatewayError 400 unless the message is a valid `response.create`.
 */
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

/** A queued message, and the bytes reserved for it in the memory budget. */
interface WaitingMessage {
  readonly text: string;
  readonly bytes: number;
}

/**
 * One WebSocket connection of the responses style. The connection serves its messages one after another. Each message
 * becomes a separate request with its own access checks, limits, history and log. Closing the connection also aborts the
 * response in progress. The memory reservation of the opening request counts the connection's memory until the runtime
 * reports the close.
 */
export class ResponsesConnection implements SocketListener {
  readonly #context: Context;
  readonly #headers: Headers;
  readonly #socket: ServerSocket;
  readonly #limits: ConnectionLimits;
  readonly #responses: LatestResponses;
  readonly #unread: UnreadMessages;
  readonly #waiting: WaitingMessage[] = [];
  /**
   * Aborts the current turn. It is replaced for each turn, because a signal keeps a reference to the request that received
   * it.
   */
  #turnAbort: AbortController | undefined;
  #ended = false;
  readonly #life: ReturnType<typeof setTimeout>;
  #idle: ReturnType<typeof setTimeout> | undefined;
  /** Bytes reserved for a message that is not complete yet. */
  #partialBytes = 0;
  #busy = false;
  #expired = false;

  /**
   * `headers` are the result of {@link turnHeaders}.
   *
   * @throws GatewayError 503 if the memory budget has no room for another connection.
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

  /** Adds a message to the queue if the memory budget allows it. */
  #take(text: string): void {
    const bytes = costOfText(text);
    try {
      this.#context.hold.demand(bytes);
    } catch (thrown) {
      this.#refuse(toGatewayError(thrown, this.#context.requestId));
      return;
    }
    this.#waiting.push({ text, bytes });
    // `waitUntil` lets the current turn finish and release its memory even if the connection has closed.
    if (!this.#busy) this.#context.waitUntil(this.#work());
  }

  closed(): void {
    this.#stop();
    this.#context.hold.end();
  }

  /** Stops all work. The remaining memory stays reserved until the runtime reports the close. */
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

  /** Closes the connection at the end of its lifetime. A response in progress is finished first. */
  #expire(): void {
    this.#expired = true;
    if (!this.#busy && !this.#ended) this.#replace("the connection has reached its longest life");
  }

  /** Closes the connection and asks the client to open a new one. */
  #replace(reason: string): void {
    const message = `${reason}: open another one`;
    this.#refuse(new GatewayError(400, message, { code: "websocket_connection_limit_reached" }));
    this.#end(reason);
  }

  /** Serves one message. If it fails, forget the response that it continues: every further attempt might fail, too. */
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
      // From here on, the request reserves its own memory.
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

  /** Serves a request and sends its answer. Returns whether a later turn can continue the answer. */
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

  /** Sends each event of a stream as one message. Returns whether the last event is not a failure. */
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

  /**
   * Sends a message, and waits if the client reads too slowly. Closes the connection if the memory budget is exhausted.
   */
  async #send(json: string, lane: string | undefined): Promise<void> {
    if (this.#ended) return;
    const text = lane === undefined ? json : `{"stream_id":${JSON.stringify(lane)},${json.slice(1)}`;
    const sent = this.#unread.send(text);
    if (sent === null) this.#end("there is no memory for what is unread", TRY_AGAIN_LATER);
    else await sent;
  }
}
