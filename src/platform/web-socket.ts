/** The program's end of a WebSocket. */
export interface ServerSocket {
  /** Characters or bytes that wait to be sent; 0 where the runtime does not tell. */
  readonly waiting: number;
  /** Sends one text message. On a connection that has ended nothing happens. */
  send(text: string): void;
  /** Ends the connection, with a status code of RFC 6455 and a reason of at most 123 bytes. */
  close(code: number, reason: string): void;
}

/** Who listens to a WebSocket. */
export interface SocketListener {
  /** A message came; null: one that is not text. */
  message(text: string | null): void;
  /** The connection has ended, whoever ended it. May be called twice. */
  closed(): void;
}

/** Turns a request that asks for it into a WebSocket. Returns the response of the handshake. */
export type Upgrade = (request: Request, listen: (socket: ServerSocket) => SocketListener) => Response;
