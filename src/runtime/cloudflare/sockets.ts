import { connect } from "cloudflare:sockets";
import type { Dial, ProxySocket } from "../../gateway/upstream/proxy/socket.ts";

/** Opens TCP connections with Workers' sockets. A connection belongs to the request that opened it, and ends with it. */
export const dial: Dial = (hostname, port) =>
  proxySocket(connect({ hostname, port }, { secureTransport: "starttls", allowHalfOpen: false }));

function proxySocket(socket: Socket): ProxySocket {
  const { opened } = socket;
  // Callers that await these promises still see the error. This only prevents unhandled rejections.
  opened.catch(() => undefined);
  socket.closed.catch(() => undefined);
  return {
    readable: socket.readable,
    writable: socket.writable,
    opened,
    startTls: (hostname) => proxySocket(socket.startTls({ expectedServerHostname: hostname })),
    close: () => {
      socket.close().catch(() => undefined);
    },
  };
}
