import type { Dial, ProxySocket } from "../../gateway/upstream/proxy/socket.ts";

/**
 * Opens TCP connections. The runtime's own HTTP client supports proxies too, but does not report at which stage a request
 * failed, which administrators need.
 */
export const dial: Dial = (hostname, port) => {
  // Brackets belong to the URL form only.
  const address = hostname.replace(/^\[(.*)\]$/, "$1");
  return proxySocket(Deno.connect({ hostname: address, port }));
};

/** Wraps a connection in progress as a socket whose streams wait for it. */
function proxySocket(connecting: Promise<Deno.TcpConn | Deno.TlsConn>): ProxySocket {
  let connection: Deno.TcpConn | Deno.TlsConn | undefined;
  let closed = false;
  const closeConnection = () => {
    closed = true;
    try {
      connection?.close();
    } catch {
      // The other side has closed it first.
    }
  };
  const opened = connecting.then(async (connected) => {
    connection = connected;
    if ("handshake" in connected) await connected.handshake();
    if (closed) closeConnection();
    return connected;
  });
  // Callers that await the promise still see the error. This only prevents an unhandled rejection.
  opened.catch(() => undefined);
  return {
    readable: createReadable(opened),
    writable: createWritable(opened),
    opened,
    close: closeConnection,
    startTls,
  };

  async function startTls(hostname: string): Promise<ProxySocket> {
    const connected = await opened;
    if (!("setNoDelay" in connected) || "handshake" in connected)
      throw new Error("this connection speaks TLS already");
    return proxySocket(Deno.startTls(connected, { hostname, alpnProtocols: ["http/1.1"] }));
  }
}

/** The incoming bytes. It does not read ahead, so that no bytes are lost when TLS starts. */
function createReadable(opened: Promise<Deno.Conn>): ReadableStream<Uint8Array<ArrayBuffer>> {
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

function createWritable(opened: Promise<Deno.Conn>): WritableStream<Uint8Array> {
  return new WritableStream({
    async write(bytes) {
      const connection = await opened;
      for (let sent = 0; sent < bytes.length; ) sent += await connection.write(bytes.subarray(sent));
    },
  });
}
