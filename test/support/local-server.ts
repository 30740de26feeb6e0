import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** Answers one request. The connection breaks if the promise that it returns rejects. */
export type RequestHandler = (request: IncomingMessage, response: ServerResponse, url: URL) => unknown;

/** A web server on a free port of this machine. */
export interface LocalServer {
  /** `http://127.0.0.1:<port>` */
  readonly origin: string;
  /** `127.0.0.1:<port>` */
  readonly host: string;
  readonly server: Server;
  close(): Promise<void>;
}

/** Starts a web server on a free port. */
export async function serve(handler: RequestHandler): Promise<LocalServer> {
  const server = createServer((request, response) => {
    const work = handler(request, response, new URL(request.url ?? "/", "http://site"));
    Promise.resolve(work).catch(() => response.destroy());
  });
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  const host = `127.0.0.1:${portOf(server)}`;
  return {
    origin: `http://${host}`,
    host,
    server,
    close: () =>
      new Promise((closed) => {
        server.closeAllConnections();
        server.close(() => closed());
      }),
  };
}

function portOf(server: Server): number {
  const address: AddressInfo | string | null = server.address();
  if (address === null || typeof address === "string") throw new Error("The server does not listen.");
  return address.port;
}
