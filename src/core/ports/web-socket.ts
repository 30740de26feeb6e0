/** This program's end of a WebSocket, towards a client or a provider. */
export interface ServerSocket {
  /**
   * Sends one text message; does nothing on a closed connection. The promise resolves when the network has accepted the
   * message, or when the connection has closed. Returns null on a runtime that reports neither.
   */
  send(text: string): Promise<void> | null;
  /** Closes the connection, with a status code of RFC 6455 and a reason of at most 123 bytes. */
  close(code: number, reason: string): void;
  /** Stops reading until `resume`, so that the other side has to wait. Absent: the runtime always reads. */
  pause?(): void;
  resume?(): void;
}

/** Receives the events of a WebSocket. */
export interface SocketListener {
  /**
   * Called for received bytes of a message that may still be incomplete. Return false if there is no memory for them:
   * the runtime then drops the connection. Runtimes that limit incomplete messages themselves do not call this.
   */
  onBytes(bytes: number): boolean;
  /** A complete message; null if it is not text. */
  onMessage(text: string | null): void;
  /**
   * The connection has closed, from either side, and the runtime holds no more data for it. May be called twice. `code`: the
   * status code of RFC 6455; absent or 1006: the connection broke.
   */
  onClose(code?: number): void;
}

/**
 * Upgrades a request to a WebSocket. Returns the handshake response.
 *
 * @throws GatewayError 400 for an invalid upgrade request, 501 if the runtime has no WebSocket for this caller
 */
export type UpgradeToWebSocket = (
  request: Request,
  listen: (socket: ServerSocket) => SocketListener,
  options: UpgradeOptions,
) => Response;

/** `isKnown`: the caller has a key of the deployment. `protocol`: the subprotocol that the response names; absent: none. */
export interface UpgradeOptions {
  readonly isKnown: boolean;
  readonly protocol?: string | undefined;
}

/** A WebSocket to a provider. It delivers nothing before `listen`, which must be called once. */
export interface OpenedSocket {
  listen(listener: SocketListener): ServerSocket;
}

/**
 * Opens a WebSocket to a provider. Returns the response of a provider that refuses it.
 *
 * @param url begins with `http:` or `https:`
 */
export type OpenWebSocket = (
  url: string,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
) => Promise<OpenedSocket | Response>;

/** Maximum size of a message; equal to the limit of request bodies. */
export const MAX_MESSAGE_BYTES = 32 * 1024 * 1024;

/** Memory that a connection takes besides its messages, in bytes (docs/performance.md). */
export const CONNECTION_BYTES = 128 * 1024;

/** Close codes (RFC 6455, section 7.4.1, and the registry of IANA). */
export const CLOSE_CODES = {
  normal: 1000,
  goingAway: 1001,
  unsupportedData: 1003,
  /** Never sent: the connection broke. */
  broken: 1006,
  policyViolation: 1008,
  internalError: 1011,
  tryAgainLater: 1013,
} as const;
