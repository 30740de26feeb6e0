import type { Dial, ProxySocket } from "../../provider/proxy/socket.ts";

/**
 * Opens TCP connections. The runtime's own HTTP client can use proxies too, but does not tell at which stage a request
 * failed, which administrators are shown.
 */
export const dial: Dial = (hostname, port) => {
  // Brackets are a URL's.
  const bare = hostname.replace(/^\[(.*)\]$/, "$1");
  return proxySocket(Deno.connect({ hostname: bare, port }));
};

/** A connection that is on its way, as a socket whose streams wait for it. */
function proxySocket(connecting: Promise<Deno.TcpConn | Deno.TlsConn>): ProxySocket {
  let connection: Deno.TcpConn | Deno.TlsConn | undefined;
  let closed = false;
  const shut = () => {
    closed = true;
    try {
      connection?.close();
    } catch {
      // The other side was faster.
    }
  };
  const opened = connecting.then(async (made) => {
    connection = made;
    if ("handshake" in made) await made.handshake();
    if (closed) shut();
    return made;
  });
  // Whoever waits for it hears of a failure; a failure that nobody waits for is none.
  opened.catch(() => undefined);
  return { readable: readableOf(opened), writable: writableOf(opened), opened, close: shut, startTls };

  async function startTls(hostname: string): Promise<ProxySocket> {
    const made = await opened;
    if (!("setNoDelay" in made) || "handshake" in made) throw new Error("this connection speaks TLS already");
    return proxySocket(Deno.startTls(made, { hostname, alpnProtocols: ["http/1.1"] }));
  }
}

/** The bytes that come in. Nothing is read ahead, so that nothing is lost to TLS. */
function readableOf(opened: Promise<Deno.Conn>): ReadableStream<Uint8Array<ArrayBuffer>> {
  const buffer = new Uint8Array(65_536);
  return new ReadableStream(
    {
      async pull(controller) {
        const count = await (await opened).read(buffer);
        if (count === null) controller.close();
        else controller.enqueue(buffer.slice(0, count));
      },
    },
    { highWaterMark: 0 },
  );
}

function writableOf(opened: Promise<Deno.Conn>): WritableStream<Uint8Array> {
  return new WritableStream({
    async write(bytes) {
      const connection = await opened;
      for (let sent = 0; sent < bytes.length; ) sent += await connection.write(bytes.subarray(sent));
    },
  });
}
