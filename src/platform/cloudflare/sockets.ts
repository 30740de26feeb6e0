import { connect } from "cloudflare:sockets";
import type { Dial, ProxySocket } from "../../provider/proxy/socket.ts";

/** Opens TCP connections with Workers' sockets. Each belongs to the request that opened it and ends with it. */
export const dial: Dial = (hostname, port) =>
  proxySocket(connect({ hostname, port }, { secureTransport: "starttls", allowHalfOpen: false }));

function proxySocket(socket: Socket): ProxySocket {
  const { opened } = socket;
  // Whoever waits for these hears of a failure; a failure that nobody waits for is none.
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
