import { textToBase64 } from "../../../core/encoding/bytes.ts";
import type { OutboundProxy } from "../../../core/ports/upstream.ts";
import { ProxyFailure } from "./failure.ts";
import type { Handshake, Target } from "./handshake-types.ts";
import { readHead } from "./response-head.ts";

/** Returns the value of `Proxy-Authorization` (RFC 7617, in UTF-8). Null: the proxy has no credentials. */
export function proxyAuthorization({ username, password }: OutboundProxy): string | null {
  if (username === "" && password === "") return null;
  return `Basic ${textToBase64(`${username}:${password}`)}`;
}

/** Creates the error for a proxy's status 407. */
export function credentialsRefused(proxy: OutboundProxy): ProxyFailure {
  return new ProxyFailure(
    "credentials",
    proxyAuthorization(proxy) === null
      ? "the proxy wants a user name and a password"
      : "the proxy refused the user name or the password",
  );
}

/** Opens a tunnel with the CONNECT method (RFC 9110, section 9.3.6). */
export async function connectThroughHttp(
  { reader, write }: Handshake,
  proxy: OutboundProxy,
  { host, port }: Target,
): Promise<void> {
  const authorization = proxyAuthorization(proxy);
  const lines = [
    `CONNECT ${host}:${port} HTTP/1.1`,
    `Host: ${host}:${port}`,
    ...(authorization === null ? [] : [`Proxy-Authorization: ${authorization}`]),
  ];
  await write(new TextEncoder().encode(`${lines.join("\r\n")}\r\n\r\n`));
  const { status, headers } = await readHead(reader);
  // RFC 9110, section 9.3.6: a tunnel has neither field, but some proxies send them.
  const hasBody = headers.has("content-length") || headers.has("transfer-encoding");
  if (status >= 200 && status < 300 && proxy.requiresTunnel === true && hasBody) {
    throw new ProxyFailure("proxy", "the proxy answered CONNECT like a web server");
  }
  if (status >= 200 && status < 300) return;
  if (status === 407) throw credentialsRefused(proxy);
  throw new ProxyFailure("target", `the proxy would not connect to ${host}:${port} (status ${status})`);
}
