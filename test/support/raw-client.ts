import { once } from "node:events";
import { connect, type Socket } from "node:net";
import type { Gateway } from "./gateway.ts";

/** Behavior of a raw client. */
export interface RawClient {
  /** Whether it reads the response; default: true. */
  readonly reads?: boolean;
  /** Declared body length in bytes; default: the actual length. */
  readonly declared?: number;
  /** Whether the client keeps reading after it or the gateway has closed its half. */
  readonly halfOpen?: boolean;
}

/** Sends a GET request on its own socket. */
export async function rawGet(
  { url }: Gateway,
  path: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect({ port: Number(port), host: hostname });
  socket.on("error", () => undefined);
  socket.resume();
  await once(socket, "connect");
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n${lines.join("")}\r\n`);
  return socket;
}

/**
 * Requests a chat completion on its own socket. The test controls how the client reads and disconnects: by a graceful
 * close, by a reset, or in the middle of its body.
 */
export async function rawChat(
  { url }: Gateway,
  body: string,
  { reads = true, declared = Buffer.byteLength(body), halfOpen = false }: RawClient = {},
): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect({ port: Number(port), host: hostname, allowHalfOpen: halfOpen });
  // The gateway may close the connection first.
  socket.on("error", () => undefined);
  if (reads) socket.resume();
  else socket.pause();
  await once(socket, "connect");
  socket.write(
    "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer sk-dev\r\n" +
      `Content-Type: application/json\r\nContent-Length: ${declared}\r\n\r\n${body}`,
  );
  return socket;
}

/** Sends the beginning of a form with a file on its own socket. The rest, which its length declares, never comes. */
export async function rawUpload({ url }: Gateway, path: string, fileBytes: number): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect({ port: Number(port), host: hostname });
  socket.on("error", () => undefined);
  socket.resume();
  await once(socket, "connect");
  const part = "--b\r\nContent-Disposition: form-data; name=";
  const head = `${part}"model"\r\n\r\noa/mine\r\n${part}"file"; filename="a.txt"\r\n\r\n`;
  socket.write(
    `POST ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer sk-dev\r\n` +
      `Content-Type: multipart/form-data; boundary=b\r\nContent-Length: ${2 * fileBytes}\r\n\r\n` +
      `${head}${"x".repeat(fileBytes)}`,
  );
  return socket;
}
