/** The server side of a WebSocket. */
export interface ServerSocket {
  /**
   * Sends one text message; does nothing on a closed connection. The promise resolves when the network has accepted the
   * message, or when the connection has closed. Returns null on a runtime that reports neither.
   */
  send(text: string): Promise<void> | null;
  /** Closes the connection, with a status code of RFC 6455 and a reason of at most 123 bytes. */
  close(code: number, reason: string): void;
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
  /** The connection has closed, from either side, and the runtime holds no more data for it. May be called twice. */
  onClose(): void;
}

/**
 * Upgrades a request to a WebSocket. Returns the handshake response.
 *
 * @throws GatewayError 400 for an invalid upgrade request, 501 on a runtime without WebSockets.
 */
export type UpgradeToWebSocket = (
  request: Request,
  listen: (socket: ServerSocket) => SocketListener,
) => Response;

/** Maximum size of a message; equal to the limit of request bodies. */
export const MAX_MESSAGE_BYTES = 32 * 1024 * 1024;
