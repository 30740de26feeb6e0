import ipaddr from "ipaddr.js";
import type { OutboundProxy } from "../../../core/ports/upstream.ts";
import { ProxyFailure } from "./failure.ts";
import type { Handshake, Target } from "./handshake-types.ts";

const VERSION = 5;
const NO_AUTHENTICATION = 0;
const USERNAME_PASSWORD = 2;
const NONE_ACCEPTABLE = 0xff;
const CONNECT = 1;
const IPV4 = 1;
const DOMAIN = 3;
const IPV6 = 4;
/** One byte states the length of user name, password and domain. */
const MAX_FIELD = 255;

/** Reply codes (RFC 1928, section 6). */
const REPLIES: Readonly<Record<number, string>> = {
  1: "the proxy failed",
  2: "the proxy's rules do not allow it",
  3: "the network cannot be reached",
  4: "the host cannot be reached",
  5: "the connection was refused",
  6: "the connection timed out on the way",
  7: "the proxy cannot connect",
  8: "the proxy does not know this kind of address",
};

/**
 * Opens a tunnel with CONNECT of SOCKS version 5 (RFC 1928), with user name and password (RFC 1929). The proxy
 * resolves host names.
 */
export async function connectThroughSocks5(
  handshake: Handshake,
  proxy: OutboundProxy,
  target: Target,
): Promise<void> {
  await authenticate(handshake, proxy);
  const { reader, write } = handshake;
  await write(
    Uint8Array.from([VERSION, CONNECT, 0, ...encodeAddress(target), target.port >> 8, target.port & 0xff]),
  );
  const [version, reply = 0, , kind] = await reader.exactly(4);
  if (version !== VERSION) throw notSocksError();
  if (reply !== 0) {
    const reason = REPLIES[reply] ?? `reply ${reply}`;
    throw new ProxyFailure(
      "target",
      `the proxy could not connect to ${target.host}:${target.port}: ${reason}`,
    );
  }
  // Skip the address that the proxy uses.
  await reader.exactly((await boundLength(handshake, kind)) + 2);
}

async function authenticate({ reader, write }: Handshake, proxy: OutboundProxy): Promise<void> {
  const hasCredentials = proxy.username !== "" || proxy.password !== "";
  const methods = hasCredentials ? [NO_AUTHENTICATION, USERNAME_PASSWORD] : [NO_AUTHENTICATION];
  await write(Uint8Array.from([VERSION, methods.length, ...methods]));
  const [version, method] = await reader.exactly(2);
  if (version !== VERSION) throw notSocksError();
  if (method === NO_AUTHENTICATION) return;
  if (method === NONE_ACCEPTABLE) {
    throw new ProxyFailure(
      "credentials",
      hasCredentials
        ? "the proxy accepts neither a user name nor a connection without one"
        : "the proxy wants a user name and a password",
    );
  }
  if (method !== USERNAME_PASSWORD) throw notSocksError();
  await write(Uint8Array.from([1, ...encodeField(proxy.username), ...encodeField(proxy.password)]));
  const [, status] = await reader.exactly(2);
  if (status !== 0) throw new ProxyFailure("credentials", "the proxy refused the user name or the password");
}

/** Encodes a text with its length in front. */
function encodeField(text: string): readonly number[] {
  const bytes = new TextEncoder().encode(text);
  if (bytes.length > MAX_FIELD) {
    throw new ProxyFailure("credentials", "a SOCKS5 user name, password or host has at most 255 bytes");
  }
  return [bytes.length, ...bytes];
}

function encodeAddress({ host }: Target): readonly number[] {
  const hostname = host.startsWith("[") ? host.slice(1, -1) : host;
  if (!ipaddr.isValid(hostname)) return [DOMAIN, ...encodeField(hostname)];
  const address = ipaddr.parse(hostname);
  return [address.kind() === "ipv4" ? IPV4 : IPV6, ...address.toByteArray()];
}

async function boundLength({ reader }: Handshake, kind: number | undefined): Promise<number> {
  if (kind === IPV4) return 4;
  if (kind === IPV6) return 16;
  if (kind !== DOMAIN) throw notSocksError();
  return (await reader.exactly(1))[0] ?? 0;
}

function notSocksError(): ProxyFailure {
  return new ProxyFailure("proxy", "the proxy does not speak SOCKS5");
}
