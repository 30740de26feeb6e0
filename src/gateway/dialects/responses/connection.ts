import { createParser } from "eventsource-parser";
import { isObject, type JsonObject } from "../../../core/encoding/json.ts";
import { getMemberText, removeMember, setMember } from "../../../core/encoding/json-splice.ts";
import { GatewayError, invalidRequest, toGatewayError } from "../../../core/errors/gateway-error.ts";
import { bodyTooLarge, reserveForJson } from "../../../core/http/json-text.ts";
import { costOfText } from "../../../core/http/value-cost.ts";
import type { Context } from "../../../core/ports/context.ts";
import {
  CLOSE_CODES,
  CONNECTION_BYTES,
  MAX_MESSAGE_BYTES,
  type ServerSocket,
  type SocketListener,
} from "../../../core/ports/web-socket.ts";
import { errorObject } from "../../../core/routing/error-formats.ts";
import { HOUR_MS } from "../../../core/units.ts";
import { optionalString } from "../shared/members.ts";
import { ConnectionResponseCache } from "./connection-response-cache.ts";
import { UnreadMessages } from "./unread-messages.ts";

/** Limits of a connection, milliseconds. `RealtimeConnection` has limits of its own. */
export interface ConnectionLimits {
  /** Maximum lifetime. */
  readonly lifetimeMs: number;
  /** Maximum time without a request. */
  readonly idleMs: number;
}

/** The real service limits a connection to one hour, too. */
const LIMITS: ConnectionLimits = { lifetimeMs: HOUR_MS, idleMs: 600_000 };

/** Maximum number of messages in the queue while a response is generated. */
const MAX_QUEUED_MESSAGES = 8;

/** Maximum length of `stream_id`, in characters. Every event of an answer repeats it. */
const MAX_STREAM_ID = 256;

/** Handshake headers that are not copied to the requests of the connection. */
const HANDSHAKE_HEADERS =
  /^(?:connection|upgrade|host|content-|sec-websocket-|x-request-id$|accept-encoding$|transfer-)/;

/** Events after which the response cannot be continued. */
const FAILURE_EVENTS: readonly (string | null)[] = ['"response.failed"', '"error"'];

/**
 * Copies the headers of the opening request that apply to every request of the connection. Call it before the upgrade,
 * because afterwards the headers cannot be read.
 */
export function copyRequestHeaders(request: Request): Headers {
  const headers = new Headers({ "content-type": "application/json" });
  for (const [name, value] of request.headers) if (!HANDSHAKE_HEADERS.test(name)) headers.set(name, value);
  return headers;
}

/** The content of one message. */
interface ConnectionRequest {
  readonly body: JsonObject;
  /** The text of the body: a provider of the same protocol gets its members as they were sent. */
  readonly text: string;
  /** The `stream_id` of the message, repeated in every event of the answer. */
  readonly streamId: string | undefined;
}

/**
 * Parses a message.
 *
 * @throws GatewayError 400 unless the message is a valid `response.create`.
 */
function parseMessage(text: string): ConnectionRequest {
  let event: unknown;
  try {
    event = JSON.parse(text);
  } catch {
    throw new GatewayError(400, "invalid json: the message is not valid JSON", { code: "invalid json" });
  }
  if (!isObject(event)) throw invalidRequest("a message must be an object");
  const { type, stream_id: streamId, ...body } = event;
  if (type !== "response.create") {
    throw invalidRequest("only messages of the type response.create are known", "type");
  }
  const bodyText = setMember(removeMember(removeMember(text, "type"), "stream_id"), "stream", "true");
  if (streamId === undefined || streamId === null) return { body, text: bodyText, streamId: undefined };
  if (typeof streamId !== "string" || streamId.length > MAX_STREAM_ID) {
    throw invalidRequest(`stream_id must be a string of at most ${MAX_STREAM_ID} characters`, "stream_id");
  }
  return { body, text: bodyText, streamId };
}

/** A queued message, and the bytes reserved for it in the memory budget. */
interface QueuedMessage {
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
  readonly #responses: ConnectionResponseCache;
  readonly #unreadMessages: UnreadMessages;
  readonly #queue: QueuedMessage[] = [];
  /**
   * Aborts the current turn. It is replaced for each turn, because a signal keeps a reference to the request that received
   * it.
   */
  #turnAbort: AbortController | undefined;
  #hasEnded = false;
  readonly #lifetimeTimer: ReturnType<typeof setTimeout>;
  #idleTimer: ReturnType<typeof setTimeout> | undefined;
  /** Bytes reserved for a message that is not complete yet. */
  #partialBytes = 0;
  #isBusy = false;
  #isExpired = false;

  /**
   * `headers` are the result of {@link copyRequestHeaders}.
   *
   * @throws GatewayError 503 if the memory budget has no room for another connection.
   */
  constructor(context: Context, headers: Headers, socket: ServerSocket, limits = LIMITS) {
    context.memory.reserveNow(CONNECTION_BYTES);
    this.#context = context;
    this.#headers = headers;
    this.#socket = socket;
    this.#limits = limits;
    this.#responses = new ConnectionResponseCache(context.memory);
    this.#unreadMessages = new UnreadMessages(context.memory, socket);
    this.#lifetimeTimer = setTimeout(() => this.#expire(), limits.lifetimeMs);
    this.#startIdleTimer();
  }

  onBytes(bytes: number): boolean {
    if (!this.#context.memory.tryReserve(bytes)) {
      this.#end("there is no memory for the message", CLOSE_CODES.tryAgainLater);
      return false;
    }
    this.#partialBytes += bytes;
    return true;
  }

  onMessage(text: string | null): void {
    const partialBytes = this.#partialBytes;
    this.#partialBytes = 0;
    if (this.#hasEnded) return;
    if (this.#unreadMessages.hasTooManyBytes)
      this.#closeForReconnect("too much of what was sent over the connection is unread");
    else if (text === null) this.#sendError(invalidRequest("messages must be text"));
    else if (text.length > MAX_MESSAGE_BYTES) this.#sendError(bodyTooLarge(MAX_MESSAGE_BYTES));
    else if (this.#queue.length >= MAX_QUEUED_MESSAGES) {
      const message = `more than ${MAX_QUEUED_MESSAGES} messages are waiting`;
      this.#sendError(new GatewayError(429, message, { code: "concurrency_limit_exceeded" }));
    } else this.#enqueue(text);
    this.#context.memory.releaseBytes(partialBytes);
  }

  /** Adds a message to the queue if the memory budget allows it. */
  #enqueue(text: string): void {
    const bytes = costOfText(text);
    try {
      this.#context.memory.reserveNow(bytes);
    } catch (thrown) {
      this.#sendError(toGatewayError(thrown, this.#context.requestId));
      return;
    }
    this.#queue.push({ text, bytes });
    // `waitUntil` lets the current turn finish and release its memory even if the connection has closed.
    if (!this.#isBusy) this.#context.waitUntil(this.#serveQueue());
  }

  onClose(): void {
    this.#stop();
    this.#context.memory.end();
  }

  /** Stops all work. The remaining memory stays reserved until the runtime reports the close. */
  #stop(): void {
    clearTimeout(this.#lifetimeTimer);
    clearTimeout(this.#idleTimer);
    for (const { bytes } of this.#queue.splice(0)) this.#context.memory.releaseBytes(bytes);
    this.#responses.clear();
    this.#hasEnded = true;
    this.#turnAbort?.abort();
  }

  async #serveQueue(): Promise<void> {
    this.#isBusy = true;
    clearTimeout(this.#idleTimer);
    for (let next = this.#queue.shift(); next !== undefined; next = this.#queue.shift()) {
      await this.#serveMessage(next);
      if (this.#isExpired) break;
    }
    this.#isBusy = false;
    if (this.#isExpired) this.#expire();
    else if (!this.#hasEnded) this.#startIdleTimer();
  }

  #startIdleTimer(): void {
    this.#idleTimer = setTimeout(() => this.#end("nothing was asked for too long"), this.#limits.idleMs);
  }

  #end(reason: string, code: number = CLOSE_CODES.normal): void {
    this.#socket.close(code, reason);
    this.#stop();
  }

  /** Closes the connection at the end of its lifetime. A response in progress is finished first. */
  #expire(): void {
    this.#isExpired = true;
    if (!this.#isBusy && !this.#hasEnded)
      this.#closeForReconnect("the connection has reached its longest life");
  }

  /** Closes the connection and asks the client to open a new one. */
  #closeForReconnect(reason: string): void {
    const message = `${reason}: open another one`;
    this.#sendError(new GatewayError(400, message, { code: "websocket_connection_limit_reached" }));
    this.#end(reason);
  }

  /** Serves one message. If it fails, forget the response that it continues: every further attempt might fail, too. */
  async #serveMessage({ text, bytes }: QueuedMessage): Promise<void> {
    let previous: string | undefined;
    let streamId: string | undefined;
    let succeeded = false;
    const { memory: reservation } = this.#context;
    let reservedBytes = bytes;
    try {
      reservedBytes += reserveForJson(text, reservation);
      const parsed = parseMessage(text);
      streamId = parsed.streamId;
      previous = optionalString(parsed.body, "previous_response_id");
      this.#unreadMessages.startTurn(previous);
      const abort = new AbortController();
      this.#turnAbort = abort;
      const request = this.#buildRequest(parsed.text, abort.signal);
      // From here on, the request reserves its own memory.
      reservation.releaseBytes(reservedBytes);
      reservedBytes = 0;
      succeeded = await this.#serveRequest(request, streamId, abort.signal);
    } catch (thrown) {
      if (!this.#hasEnded) this.#sendError(toGatewayError(thrown, this.#context.requestId), streamId);
    } finally {
      reservation.releaseBytes(reservedBytes);
      this.#turnAbort = undefined;
      this.#unreadMessages.endTurn(this.#responses.latest);
    }
    if (!succeeded && previous !== undefined) this.#responses.remove(previous);
  }

  /** Serves a request and sends its answer. Returns whether a later turn can continue the answer. */
  async #serveRequest(request: Request, streamId: string | undefined, signal: AbortSignal): Promise<boolean> {
    const response = await this.#context.serveRequest(request, this.#responses);
    if (response.ok && response.body !== null) return this.#forwardEvents(response.body, streamId, signal);
    const failure: unknown = await response.json();
    const error = isObject(failure) ? failure["error"] : undefined;
    await this.#send(JSON.stringify({ type: "error", status: response.status, error }), streamId);
    return false;
  }

  #buildRequest(body: string, signal: AbortSignal): Request {
    return new Request(this.#context.url, {
      method: "POST",
      headers: this.#headers,
      body,
      signal,
    });
  }

  /** Sends each event of a stream as one message. Returns whether the last event is not a failure. */
  async #forwardEvents(
    stream: ReadableStream<Uint8Array>,
    streamId: string | undefined,
    signal: AbortSignal,
  ): Promise<boolean> {
    const reader = stream.getReader();
    const cancelReader = () => void reader.cancel().catch(() => undefined);
    signal.addEventListener("abort", cancelReader, { once: true });
    const decoder = new TextDecoder();
    let events: string[] = [];
    // Native answers have the provider's line breaks and comments.
    const parser = createParser({ onEvent: ({ data }) => events.push(data) });
    let last = "";
    try {
      for (;;) {
        const { done, value } = await reader.read();
        if (done) break;
        parser.feed(decoder.decode(value, { stream: true }));
        const read = events;
        events = [];
        for (const event of read) {
          if (!event.startsWith("{")) continue;
          last = event;
          await this.#send(event, streamId);
        }
      }
    } finally {
      signal.removeEventListener("abort", cancelReader);
    }
    return last !== "" && !FAILURE_EVENTS.includes(getMemberText(last, ["type"]));
  }

  #sendError(error: GatewayError, streamId?: string): void {
    const { status } = error;
    void this.#send(JSON.stringify({ type: "error", status, error: errorObject(error) }), streamId);
  }

  /**
   * Sends a message, and waits if the client reads too slowly. Closes the connection if the memory budget is exhausted.
   */
  async #send(json: string, streamId: string | undefined): Promise<void> {
    if (this.#hasEnded) return;
    const text = streamId === undefined ? json : `{"stream_id":${JSON.stringify(streamId)},${json.slice(1)}`;
    const sent = this.#unreadMessages.send(text);
    if (sent === null) this.#end("there is no memory for what is unread", CLOSE_CODES.tryAgainLater);
    else await sent;
  }
}
