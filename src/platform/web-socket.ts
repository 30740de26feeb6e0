/** The program's end of a WebSocket. */
export interface ServerSocket {
  /**
   * Sends one text message. On a connection that has ended nothing happens. The promise resolves when the network has taken
   * the message, or when the connection has ended. Returns null on a runtime that does not report either.
   */
  send(text: string): Promise<void> | null;
  /** Ends the connection, with a status code of RFC 6455 and a reason of at most 123 bytes. */
  close(code: number, reason: string): void;
}

/** Who listens to a WebSocket. */
export interface SocketListener {
  /**
   * Bytes of a message that may still be incomplete came. False: there is no memory for them, and the runtime cuts the
   * connection. A runtime that bounds incomplete messages itself does not call this.
   */
  receive(bytes: number): boolean;
  /** A message is complete; null: it is not text. */
  message(text: string | null): void;
  /** The connection has ended, on either side's wish, and the runtime holds nothing for it any more. May be called twice. */
  closed(): void;
}

/**
 * Turns a request that asks for it into a WebSocket. Returns the response of the handshake.
 *
 * @throws GatewayError 400 for a request that cannot become a WebSocket, 501 on a runtime that has none.
 */
export type Upgrade = (request: Request, listen: (socket: ServerSocket) => SocketListener) => Response;

/** The most bytes that a message may have: as many as a request body. */
export const MAX_MESSAGE_BYTES = 32 * 1024 * 1024;
