import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { gzipSync } from "node:zlib";

const folder = join(import.meta.dirname, "fixtures/tls");

/** Certificate file of the authority that signed the test target's certificate for `localhost`. */
export const TEST_CA_FILE = join(folder, "ca.pem");

/** A local web server that responds in all forms of HTTP/1.1. */
export interface TestTarget {
  readonly port: number;
  /** Number of requests whose connection closed before the response ended. */
  readonly aborted: number;
  close(): Promise<void>;
}

/** Starts a target on a free port. */
export async function startTestTarget(secure: boolean): Promise<TestTarget> {
  let aborted = 0;
  const listener: RequestListener = (request, response) => {
    response.on("close", () => {
      if (!response.writableFinished) aborted += 1;
    });
    serve(request, response).catch(() => response.destroy());
  };
  const server = secure
    ? createSecureServer(
        { key: readFileSync(join(folder, "server.key")), cert: readFileSync(join(folder, "server.pem")) },
        listener,
      )
    : createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    get aborted() {
      return aborted;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { pathname } = new URL(request.url ?? "/", "http://target");
  switch (pathname) {
    case "/echo": {
      const pieces: Buffer[] = [];
      for await (const piece of request) pieces.push(Buffer.from(piece));
      const { method, url, headers } = request;
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ method, url, headers, body: Buffer.concat(pieces).toString("latin1") }));
      return;
    }
    case "/ticks":
      response.setHeader("content-type", "text/event-stream");
      for (let n = 0; n < 5; n += 1) {
        response.write(`data: ${n}\n\n`);
        await sleep(100);
      }
      response.end();
      return;
    case "/endless":
      response.write("begin");
      return;
    case "/silent":
      return;
    case "/until-close":
      response.socket?.end("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nall that there is");
      return;
    case "/interim":
      response.writeProcessing();
      response.end("after all");
      return;
    case "/gzip":
      response.setHeader("content-encoding", "gzip");
      response.end(gzipSync("unpacked"));
      return;
    case "/bad-gateway":
      response.statusCode = 502;
      response.end("<html>502 Bad Gateway</html>");
      return;
    case "/empty":
      response.statusCode = 204;
      response.end();
      return;
    case "/short":
      response.socket?.end("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort");
      return;
    case "/nonsense":
      response.socket?.end("220 mail.example ESMTP\r\n");
      return;
    case "/big": {
      const piece = Buffer.alloc(64 * 1024, "x");
      for (let n = 0; n < 64; n += 1) {
        if (!response.write(piece)) await new Promise((resolve) => response.once("drain", resolve));
      }
      response.end();
      return;
    }
    default:
      response.statusCode = 404;
      response.end("nothing here");
  }
}
