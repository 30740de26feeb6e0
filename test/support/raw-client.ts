import { once } from "node:events";
import { connect, type Socket } from "node:net";
import type { Gateway } from "./gateway.ts";

/** How a raw client behaves. */
export interface RawClient {
  /** Whether it reads what comes; it does unless told otherwise. */
  readonly reads?: boolean;
  /** How long it says that its body is, in bytes; the truth unless told otherwise. */
  readonly declared?: number;
  /** Whether the client goes on reading once it has closed its own half, or the gateway its half. */
  readonly halfOpen?: boolean;
}

/**
 * Asks for a chat completion on a socket of its own, so that a test chooses how the client reads and how it leaves: by an orderly
 * close, by a reset, or in the middle of its body.
 */
export async function rawChat(
  { url }: Gateway,
  body: string,
  { reads = true, declared = Buffer.byteLength(body), halfOpen = false }: RawClient = {},
): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect({ port: Number(port), host: hostname, allowHalfOpen: halfOpen });
  // The gateway may end the connection first.
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
