import type { IncomingMessage, ServerResponse } from "node:http";
import { gzipSync } from "node:zlib";
import { html } from "./pages.ts";

/** Answers a request for a page that cannot be loaded as it should, by its path. Other paths are a page without faults. */
export function answerFailingPage(
  request: IncomingMessage,
  response: ServerResponse,
  { pathname, searchParams }: URL,
): unknown {
  switch (pathname) {
    case "/status":
      response.statusCode = Number(searchParams.get("is"));
      return html(response, "<h1>Trouble</h1>");
    case "/download":
      response.setHeader("content-type", "application/zip");
      response.setHeader("content-disposition", "attachment; filename=a.zip");
      return response.end("PK");
    case "/around":
      return response.writeHead(302, { location: `/around?${Math.random()}` }).end();
    case "/silent":
      return undefined;
    case "/flood": {
      const piece = Buffer.alloc(300_000, " ");
      response.setHeader("content-type", "text/html");
      for (let count = 0; count < 12; count++) response.write(piece);
      const timer = setInterval(() => response.write(piece), 20);
      return response.on("close", () => clearInterval(timer));
    }
    case "/flood-in-worker":
      return html(
        response,
        `<script>new Worker(URL.createObjectURL(new Blob(["fetch('http://${request.headers.host}/flood').then((r) => r.text())"])))</script>`,
      );
    case "/bomb":
      response.setHeader("content-type", "text/html");
      response.setHeader("content-encoding", "gzip");
      return response.end(gzipSync(Buffer.alloc(8_000_000, " ")));
    default:
      return html(response, "<h1>Fine</h1>");
  }
}
