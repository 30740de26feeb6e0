import { connect, isIP, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import type { Dial, ProxySocket } from "../../gateway/upstream/proxy/socket.ts";

/** The brackets of an IPv6 address belong to the URL form only. */
const BRACKETS = /^\[(.*)\]$/;

/**
 * Opens TCP connections. The runtime's own HTTP client supports proxies too, but does not report at which stage a request
 * failed, which administrators need. The sockets are Node's, because closing a `Deno.TlsConn` during its handshake leaves the
 * connection open until the other side closes it.
 */
export const dial: Dial = (hostname, port) => {
  const host = hostname.replace(BRACKETS, "$1");
  return proxySocket(connect({ host, port }), "connect");
};

function proxySocket(socket: Socket, openEvent: "connect" | "secureConnect"): ProxySocket {
  const opened = new Promise<void>((resolve, reject) => {
    socket.once(openEvent, () => resolve());
    // Stays for the life of the socket: an error that nobody handles would end the process.
    socket.on("error", reject);
    socket.once("close", () => reject(new Error("the connection was closed")));
  });
  // Callers that await the promise still see the error. This only prevents an unhandled rejection.
  opened.catch(() => undefined);
  return {
    readable: createReadable(socket),
    writable: createWritable(socket),
    opened,
    close: () => {
      socket.destroy();
    },
    startTls: (hostname) => {
      const host = hostname.replace(BRACKETS, "$1");
      // The certificate must name `host`. TLS does not send IP addresses as server names.
      const names = { host, ...(isIP(host) === 0 ? { servername: host } : {}) };
      const options = { socket, ...names, ALPNProtocols: ["http/1.1"], rejectUnauthorized: true };
      return proxySocket(connectTls(options), "secureConnect");
    },
  };
}

const WAKING_EVENTS = ["readable", "end", "close", "error"] as const;

/** The incoming bytes. It reads only on demand, so that no bytes are lost when TLS starts. */
function createReadable(socket: Socket): ReadableStream<Uint8Array<ArrayBuffer>> {
  return new ReadableStream(
    {
      async pull(controller) {
        for (;;) {
          const bytes: Uint8Array | null = socket.read();
          if (bytes !== null) return controller.enqueue(new Uint8Array(bytes));
          if (socket.readableEnded) return controller.close();
          if (socket.destroyed) throw new Error("the connection broke");
          await new Promise<void>((resolve) => {
            const wake = () => {
              for (const event of WAKING_EVENTS) socket.off(event, wake);
              resolve();
            };
            for (const event of WAKING_EVENTS) socket.on(event, wake);
          });
        }
      },
    },
    { highWaterMark: 0 },
  );
}

function createWritable(socket: Socket): WritableStream<Uint8Array> {
  return new WritableStream({
    write: (bytes) =>
      new Promise((resolve, reject) => {
        socket.write(bytes, (error) => (error ? reject(error) : resolve()));
      }),
  });
}
