import { Duplex } from "node:stream";
import { GatewayError, invalidRequest } from "../../core/errors/gateway-error.ts";

/** Bytes per read. */
const READ_BYTES = 65_536;

/** A connection that the program has taken over from the server. */
export interface TakenConnection {
  readonly conn: Deno.Conn;
  /** The request's handler must return this response; otherwise the whole server ends. */
  readonly response: Response;
}

const isRawUpgrade = (value: unknown): value is (request: Request) => TakenConnection =>
  typeof value === "function";

/** The internal function of Deno that takes connections over; null from Deno 2.9.6 on, which removed it. */
const rawUpgrade = findRawUpgrade();

function findRawUpgrade(): ((request: Request) => TakenConnection) | null {
  const internals: unknown = Reflect.get(Deno, Reflect.get(Deno, "internal"));
  if (typeof internals !== "object" || internals === null) return null;
  const upgrade: unknown = Reflect.get(internals, "upgradeHttpRaw");
  return isRawUpgrade(upgrade) ? upgrade : null;
}

/** Whether this version of Deno lets the program take over connections. */
export const canTakeOver = rawUpgrade !== null;

/**
 * Takes over the connection of a request. The caller writes the answer to the handshake.
 *
 * @throws GatewayError 400 without `Connection: Upgrade`, 501 if this version of Deno cannot do it
 */
export function takeOverConnection(request: Request): TakenConnection {
  if (!/\bupgrade\b/i.test(request.headers.get("connection") ?? "")) {
    throw invalidRequest("a WebSocket needs the header Connection: Upgrade");
  }
  if (rawUpgrade === null) {
    throw new GatewayError(
      501,
      "this version of Deno has WebSockets only for callers with a key of the gateway",
      {
        code: "unsupported",
      },
    );
  }
  return rawUpgrade(request);
}

/** A connection as a Node stream. It reads only on demand, so that a slow reader applies backpressure to the client. */
export class ConnectionStream extends Duplex {
  readonly #connection: Deno.Conn;
  readonly #receive: (bytes: number) => boolean;

  /** @param receive called with the number of bytes before the reader gets them; if it returns false, the stream ends */
  constructor(connection: Deno.Conn, receive: (bytes: number) => boolean) {
    super();
    this.#connection = connection;
    this.#receive = receive;
  }

  override _read(): void {
    const buffer = new Uint8Array(READ_BYTES);
    this.#connection.read(buffer).then(
      (count) => {
        if (count === null) this.push(null);
        else if (this.#receive(count)) this.push(count < READ_BYTES ? buffer.slice(0, count) : buffer);
        else this.push(null);
      },
      (error: Error) => this.destroy(error),
    );
  }

  override _write(bytes: Uint8Array, _encoding: string, done: (error?: Error | null) => void): void {
    writeAll(this.#connection, bytes).then(() => done(), done);
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    try {
      this.#connection.close();
    } catch {
      // The client has closed it first.
    }
    done(error);
  }
}

async function writeAll(connection: Deno.Conn, bytes: Uint8Array): Promise<void> {
  for (let sent = 0; sent < bytes.length; ) sent += await connection.write(bytes.subarray(sent));
}
