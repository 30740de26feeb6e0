import { GatewayError } from "../../core/errors/gateway-error.ts";
import { ProviderError } from "../../core/errors/provider-error.ts";
import type { OpenedSocket, ServerSocket, SocketListener } from "../../core/ports/web-socket.ts";
import { errorObject } from "../../core/routing/error-formats.ts";
import { HOUR_MS } from "../../core/units.ts";
import { type ClientEventOptions, type ProviderEvents, prepareClientEvent } from "./realtime-events.ts";
import { SocketPipe } from "./socket-pipe.ts";

/** Maximum lifetime of a connection, and maximum time without a message, milliseconds. The vendor's is one hour, too. */
const LIFE_MS = HOUR_MS;
const IDLE_MS = 600_000;
/**
 * How long the caller may take to send a first message, milliseconds. Under `wrangler dev` a caller who leaves during the
 * handshake may look as if it were there.
 */
const FIRST_MESSAGE_MS = 60_000;
/** How often the connection checks whether it may go on, milliseconds. */
const CHECK_MS = 10_000;

/** Memory of a connection, in bytes. */
export const CONNECTION_BYTES = 128 * 1024;

/** Close codes of RFC 6455, section 7.4.1. */
const NORMAL = 1000;
const GOING_AWAY = 1001;
const UNSUPPORTED_DATA = 1003;
const BROKEN = 1006;
const POLICY_VIOLATION = 1008;
const INTERNAL_ERROR = 1011;
const TRY_AGAIN_LATER = 1013;

/** What a connection needs to know. */
export interface RealtimeOptions extends ClientEventOptions {
  /** Aborted when the lease is lost, or the request is aborted for another reason. */
  readonly signal: AbortSignal;
  /** Aborted when the gateway is to end. */
  readonly closing?: AbortSignal | undefined;
  readonly events: ProviderEvents;
  /** Called for each message of the provider. */
  readonly onProviderMessage: () => void;
  /** Rejects with a `GatewayError` if the connection must end: below 500 if the caller may no longer use it. */
  readonly assertStillAllowed: () => Promise<void>;
}

/** Whether a close code may be sent. */
function isSendable(code: number | undefined): code is number {
  if (code === undefined || code < NORMAL || code > 4999) return false;
  return code >= 3000 || (code <= 1014 && ![1004, 1005, BROKEN].includes(code));
}

/** A caller's WebSocket and the provider's, which exchange their messages until one of them closes. */
export class RealtimeConnection {
  readonly #options: RealtimeOptions;
  readonly #ended = Promise.withResolvers<void>();
  readonly #client: ServerSocket;
  #provider: ServerSocket | null = null;
  #toClient: SocketPipe | null = null;
  #toProvider: SocketPipe | null = null;
  /** Bytes reserved for a message of the caller that is not complete yet. */
  #partialBytes = 0;
  #hasEnded = false;
  readonly #openedAt = Date.now();
  #lastMessageAt = this.#openedAt;
  #hasClientSent = false;
  readonly #lifeTimer: ReturnType<typeof setTimeout>;
  readonly #checkTimer: ReturnType<typeof setInterval>;

  constructor(client: ServerSocket, options: RealtimeOptions) {
    this.#client = client;
    this.#options = options;
    this.#lifeTimer = setTimeout(() => this.#expire("the connection has reached its longest life"), LIFE_MS);
    this.#checkTimer = setInterval(() => {
      const now = Date.now();
      if (now - this.#lastMessageAt > IDLE_MS) this.#expire("nothing was sent for too long");
      else if (!this.#hasClientSent && now - this.#openedAt > FIRST_MESSAGE_MS)
        this.#expire("the caller sent nothing");
      else options.assertStillAllowed().catch((thrown: unknown) => this.#endIfRefused(thrown));
    }, CHECK_MS);
    options.signal.addEventListener("abort", () => this.#end(TRY_AGAIN_LATER, "the account is gone"));
    options.closing?.addEventListener("abort", this.#leave);
  }

  readonly #leave = (): void => this.#end(GOING_AWAY, "the gateway restarts");

  /**
   * Resolves at the end of the connection. Rejects with a `ProviderError` if the provider
   * broke it, and with what a message made this program throw.
   */
  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  /** Receives the caller's messages. */
  get clientListener(): SocketListener {
    const { memory } = this.#options;
    return {
      onBytes: (bytes) => {
        if (!memory.tryReserve(bytes)) {
          this.#end(TRY_AGAIN_LATER, "there is no memory for the message");
          return false;
        }
        this.#partialBytes += bytes;
        return true;
      },
      onMessage: (text) => {
        const partialBytes = this.#partialBytes;
        this.#partialBytes = 0;
        try {
          this.#takeClientMessage(text);
        } catch (thrown) {
          if (thrown instanceof GatewayError) this.#sendError(thrown);
          else this.#end(UNSUPPORTED_DATA, "the message cannot be read", NORMAL, thrown);
        } finally {
          memory.releaseBytes(partialBytes);
        }
      },
      onClose: (code) => {
        this.#end(NORMAL, "the client closed the connection", isSendable(code) ? code : NORMAL);
        memory.end();
      },
    };
  }

  /** Connects the provider's side. */
  connect(socket: OpenedSocket): void {
    const { memory, events, onProviderMessage } = this.#options;
    const provider = socket.listen({
      onBytes: () => true,
      onMessage: (text) => {
        if (this.#hasEnded) return;
        this.#lastMessageAt = Date.now();
        this.#toProvider?.confirmTaken();
        onProviderMessage();
        if (text === null) this.#end(INTERNAL_ERROR, "the provider sent a message that is no text");
        else this.#passToClient(text, events);
      },
      onClose: (code) => {
        const isBroken = code === undefined || code === BROKEN;
        const error = isBroken ? new ProviderError("cut", "the provider broke the connection") : null;
        this.#end(
          isSendable(code) ? code : isBroken ? INTERNAL_ERROR : NORMAL,
          "the provider closed the connection",
          NORMAL,
          error,
        );
      },
    });
    this.#provider = provider;
    this.#toClient = new SocketPipe(memory, provider, this.#client);
    this.#toProvider = new SocketPipe(memory, this.#client, provider);
    if (this.#hasEnded) provider.close(NORMAL, "");
  }

  #passToClient(text: string, events: ProviderEvents): void {
    try {
      if (this.#toClient?.send(events.read(text)) === false)
        this.#end(TRY_AGAIN_LATER, "too much of what was sent is unread");
    } catch (thrown) {
      if (!(thrown instanceof GatewayError)) throw thrown;
      // A connection that went on would use what nobody counts.
      const code = thrown.status === 503 ? TRY_AGAIN_LATER : INTERNAL_ERROR;
      this.#end(code, "an event of the provider cannot be read", NORMAL, thrown);
    }
  }

  #takeClientMessage(text: string | null): void {
    if (this.#hasEnded) return;
    this.#hasClientSent = true;
    this.#lastMessageAt = Date.now();
    this.#toClient?.confirmTaken();
    if (text === null) {
      this.#end(UNSUPPORTED_DATA, "messages must be text");
      return;
    }
    if (this.#toProvider?.send(prepareClientEvent(text, this.#options)) === false)
      this.#end(TRY_AGAIN_LATER, "the provider takes the messages too slowly");
  }

  #sendError(error: GatewayError): void {
    const text = JSON.stringify({ type: "error", error: errorObject(error) });
    if (this.#toClient?.send(text) === false)
      this.#end(TRY_AGAIN_LATER, "too much of what was sent is unread");
  }

  #endIfRefused(thrown: unknown): void {
    if (!(thrown instanceof GatewayError) || this.#hasEnded) return;
    this.#sendError(thrown);
    if (thrown.status >= 500) this.#end(TRY_AGAIN_LATER, "the account is gone", NORMAL, thrown);
    else this.#end(POLICY_VIOLATION, "the caller may no longer use the connection", NORMAL, thrown);
  }

  #expire(reason: string): void {
    this.#sendError(
      new GatewayError(400, `${reason}: open another one`, { code: "websocket_connection_limit_reached" }),
    );
    this.#end(NORMAL, reason);
  }

  /** Closes both sides. `error`: why the work failed. */
  #end(code: number, reason: string, providerCode = NORMAL, error: unknown = null): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    clearTimeout(this.#lifeTimer);
    clearInterval(this.#checkTimer);
    this.#options.closing?.removeEventListener("abort", this.#leave);
    this.#client.resume?.();
    this.#provider?.resume?.();
    this.#client.close(code, reason);
    this.#provider?.close(providerCode, "");
    if (error === null) this.#ended.resolve();
    else this.#ended.reject(error);
  }
}
