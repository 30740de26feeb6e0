import { connect, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import type { Dial, ProxySocket } from "../../../../../src/gateway/upstream/proxy/socket.ts";

/** Opens TCP connections with Node's sockets; `ca` is the authority that is trusted. */
export function nodeDial(ca: string): Dial {
  return (host, port) => proxySocket(connect({ host, port }), "connect", ca);
}

function proxySocket(socket: Socket, event: "connect" | "secureConnect", ca: string): ProxySocket {
  const opened = new Promise<void>((resolve, reject) => {
    socket.once(event, () => resolve());
    socket.once("error", reject);
    socket.once("close", () => reject(new Error("closed")));
  });
  opened.catch(() => undefined);
  socket.on("error", () => undefined);
  return {
    readable: new ReadableStream<Uint8Array<ArrayBuffer>>(
      { pull: (controller) => next(socket, controller) },
      { highWaterMark: 0 },
    ),
    writable: new WritableStream<Uint8Array>({
      write: (bytes) =>
        new Promise((resolve, reject) => {
          socket.write(bytes, (error) => (error ? reject(error) : resolve()));
        }),
    }),
    opened,
    startTls: (servername) => proxySocket(connectTls({ socket, servername, ca }), "secureConnect", ca),
    close: () => {
      socket.destroy();
    },
  };
}

const EVENTS = ["readable", "end", "close", "error"] as const;

/** Reads once, and not before it is asked: what follows may belong to TLS. */
async function next(
  socket: Socket,
  controller: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>>,
): Promise<void> {
  for (;;) {
    const bytes: Buffer | null = socket.read();
    if (bytes !== null) {
      controller.enqueue(new Uint8Array(bytes));
      return;
    }
    if (socket.readableEnded) {
      controller.close();
      return;
    }
    if (socket.destroyed) throw new Error("the connection broke");
    await new Promise<void>((resolve) => {
      const wake = () => {
        for (const event of EVENTS) socket.off(event, wake);
        resolve();
      };
      for (const event of EVENTS) socket.on(event, wake);
    });
  }
}
