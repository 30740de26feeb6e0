import type { OutboundProxy } from "../../../core/ports/upstream.ts";
import { ByteReader } from "./byte-reader.ts";
import { ProxyFailure } from "./failure.ts";
import type { Handshake, Target } from "./handshake-types.ts";
import { connectThroughHttp } from "./http-connect.ts";
import type { ProxySocket } from "./socket.ts";
import { connectThroughSocks5 } from "./socks5.ts";

/**
 * Makes the proxy at the other end of `socket` connect to a target. Afterwards the socket's streams are unlocked and
 * lead to the target.
 *
 * @throws ProxyFailure
 */
export async function openTunnel(socket: ProxySocket, proxy: OutboundProxy, target: Target): Promise<void> {
  const reader = new ByteReader(socket.readable);
  const writer = socket.writable.getWriter();
  const handshake: Handshake = { reader, write: (bytes) => writer.write(bytes) };
  try {
    if (proxy.type === "socks5") await connectThroughSocks5(handshake, proxy, target);
    else await connectThroughHttp(handshake, proxy, target);
    reader.release();
  } catch (error) {
    // The stage `answer` would blame the provider for what the proxy wrote.
    if (error instanceof ProxyFailure && error.stage !== "answer") throw error;
    throw new ProxyFailure("proxy", `the proxy broke the ${getProxyName(proxy)} handshake off`, error);
  } finally {
    writer.releaseLock();
  }
}

function getProxyName({ type }: OutboundProxy): string {
  return type === "socks5" ? "SOCKS5" : "HTTP CONNECT";
}
