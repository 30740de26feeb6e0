import { GatewayError } from "../../core/errors/gateway-error.ts";
import { ProviderError } from "../../core/errors/provider-error.ts";
import {
  CLOSE_CODES,
  type OpenedSocket,
  type ServerSocket,
  type SocketListener,
} from "../../core/ports/web-socket.ts";
import { errorObject } from "../../core/routing/error-formats.ts";
import { HOUR_MS } from "../../core/units.ts";
import { type ClientEventOptions, type ProviderEvents, prepareClientEvent } from "./realtime-events.ts";
import { SocketPipe } from "./socket-pipe.ts";

/** Maximum lifetime of a connection, milliseconds. The vendor's is one hour, too. */
const LIFETIME_MS = HOUR_MS;
/** Maximum time without a message of either side, milliseconds. `ResponsesConnection` has limits of its own. */
const IDLE_MS = 600_000;
/**
 * How long the caller may take to send a first message, milliseconds. Under `wrangler dev` a caller who leaves during the
 * handshake may look as if it were there.
 */
const FIRST_MESSAGE_MS = 60_000;
/** How often the connection checks whether it may go on, milliseconds. */
const CHECK_MS = 10_000;

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
  if (code === undefined || code < CLOSE_CODES.normal || code > 4999) return false;
  return code >= 3000 || (code <= 1014 && ![1004, 1005, CLOSE_CODES.broken].includes(code));
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
  readonly #lifetimeTimer: ReturnType<typeof setTimeout>;
  readonly #checkTimer: ReturnType<typeof setInterval>;

  constructor(client: ServerSocket, options: RealtimeOptions) {
    this.#client = client;
    this.#options = options;
    this.#lifetimeTimer = setTimeout(
      () => this.#expire("the connection has reached its longest life"),
      LIFETIME_MS,
    );
    this.#checkTimer = setInterval(() => {
      const now = Date.now();
      if (now - this.#lastMessageAt > IDLE_MS) this.#expire("nothing was sent for too long");
      else if (!this.#hasClientSent && now - this.#openedAt > FIRST_MESSAGE_MS)
        this.#expire("the caller sent nothing");
      else options.assertStillAllowed().catch((thrown: unknown) => this.#endIfRefused(thrown));
    }, CHECK_MS);
    options.signal.addEventListener("abort", () =>
      this.#end(CLOSE_CODES.tryAgainLater, "the account is gone"),
    );
    options.closing?.addEventListener("abort", this.#leave);
  }

  readonly #leave = (): void => this.#end(CLOSE_CODES.goingAway, "the gateway restarts");

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
          this.#end(CLOSE_CODES.tryAgainLater, "there is no memory for the message");
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
          else
            this.#end(CLOSE_CODES.unsupportedData, "the message cannot be read", CLOSE_CODES.normal, thrown);
        } finally {
          memory.releaseBytes(partialBytes);
        }
      },
      onClose: (code) => {
        this.#end(
          CLOSE_CODES.normal,
          "the client closed the connection",
          isSendable(code) ? code : CLOSE_CODES.normal,
        );
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
        if (text === null)
          this.#end(CLOSE_CODES.internalError, "the provider sent a message that is no text");
        else this.#passToClient(text, events);
      },
      onClose: (code) => {
        const isBroken = code === undefined || code === CLOSE_CODES.broken;
        const error = isBroken ? new ProviderError("cut", "the provider broke the connection") : null;
        this.#end(
          isSendable(code) ? code : isBroken ? CLOSE_CODES.internalError : CLOSE_CODES.normal,
          "the provider closed the connection",
          CLOSE_CODES.normal,
          error,
        );
      },
    });
    this.#provider = provider;
    this.#toClient = new SocketPipe(memory, provider, this.#client);
    this.#toProvider = new SocketPipe(memory, this.#client, provider);
    if (this.#hasEnded) provider.close(CLOSE_CODES.normal, "");
  }

  #passToClient(text: string, events: ProviderEvents): void {
    try {
      if (this.#toClient?.send(events.read(text)) === false)
        this.#end(CLOSE_CODES.tryAgainLater, "too much of what was sent is unread");
    } catch (thrown) {
      if (!(thrown instanceof GatewayError)) throw thrown;
      // If the connection continued, its usage would not be counted.
      const code = thrown.status === 503 ? CLOSE_CODES.tryAgainLater : CLOSE_CODES.internalError;
      this.#end(code, "an event of the provider cannot be read", CLOSE_CODES.normal, thrown);
    }
  }

  #takeClientMessage(text: string | null): void {
    if (this.#hasEnded) return;
    this.#hasClientSent = true;
    this.#lastMessageAt = Date.now();
    this.#toClient?.confirmTaken();
    if (text === null) {
      this.#end(CLOSE_CODES.unsupportedData, "messages must be text");
      return;
    }
    if (this.#toProvider?.send(prepareClientEvent(text, this.#options)) === false)
      this.#end(CLOSE_CODES.tryAgainLater, "the provider takes the messages too slowly");
  }

  #sendError(error: GatewayError): void {
    const text = JSON.stringify({ type: "error", error: errorObject(error) });
    if (this.#toClient?.send(text) === false)
      this.#end(CLOSE_CODES.tryAgainLater, "too much of what was sent is unread");
  }

  #endIfRefused(thrown: unknown): void {
    if (!(thrown instanceof GatewayError) || this.#hasEnded) return;
    this.#sendError(thrown);
    if (thrown.status >= 500)
      this.#end(CLOSE_CODES.tryAgainLater, "the account is gone", CLOSE_CODES.normal, thrown);
    else
      this.#end(
        CLOSE_CODES.policyViolation,
        "the caller may no longer use the connection",
        CLOSE_CODES.normal,
        thrown,
      );
  }

  #expire(reason: string): void {
    this.#sendError(
      new GatewayError(400, `${reason}: open another one`, { code: "websocket_connection_limit_reached" }),
    );
    this.#end(CLOSE_CODES.normal, reason);
  }

  /** Closes both sides. `error`: why the work failed. */
  #end(code: number, reason: string, providerCode: number = CLOSE_CODES.normal, error: unknown = null): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    clearTimeout(this.#lifetimeTimer);
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
