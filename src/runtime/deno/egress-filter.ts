import { Buffer } from "node:buffer";
import { lookup } from "node:dns/promises";
import { type AddressInfo, connect, createServer, isIP, type Socket } from "node:net";
import { networkInterfaces } from "node:os";
import ipaddr from "ipaddr.js";
import { embeddedIPv4, isPublicAddress } from "../../core/url-safety/addresses.ts";

const CONNECT_MS = 15_000;
// Replies of RFC 1928, section 6. Browsers distinguish "host unreachable" from the others, so it reports an unknown name.
const GRANTED = 0;
const REFUSED = 2;
const NO_SUCH_HOST = 4;
const UNREACHABLE = 5;
const WRONG_COMMAND = 7;
const CONNECT = 1;
const NAME = 3;
const IPV6 = 4;

/** A running egress filter. */
export interface EgressFilter {
  /** `socks5://127.0.0.1:<port>` */
  readonly url: string;
  close(): void;
}

/** Whether the `host:port` pair is allowed although its address is private. */
export type IsAllowlisted = (pair: string) => boolean;

/** Returns the current addresses of this machine's interfaces. */
export type ListOwnAddresses = () => readonly string[];

const listOwnAddresses: ListOwnAddresses = () =>
  Object.values(networkInterfaces()).flatMap((list = []) => list.map(({ address }) => address));

/**
 * A SOCKS5 proxy (RFC 1928, without authentication) on this machine. It resolves names itself and connects only to public
 * addresses, except this machine's own: a local service may take such a connection for a local one. Unlike a check of the
 * URL it sees the resolved address, and it connects to exactly the address that it checked.
 */
export async function startEgressFilter(
  isAllowlisted: IsAllowlisted,
  listOwn = listOwnAddresses,
): Promise<EgressFilter> {
  const server = createServer((client) => {
    client.setNoDelay(true);
    client.on("error", () => client.destroy());
    serveClient(client, isAllowlisted, listOwn).catch(() => client.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  return { url: `socks5://127.0.0.1:${getPort(server.address())}`, close: () => server.close() };
}

function getPort(address: AddressInfo | string | null): number {
  if (address === null || typeof address === "string") throw new Error("the filter does not listen");
  return address.port;
}

async function serveClient(
  client: Socket,
  isAllowlisted: IsAllowlisted,
  listOwn: ListOwnAddresses,
): Promise<void> {
  const input = new ExactReader(client);
  const [, methods = 0] = await input.read(2);
  await input.read(methods);
  client.write(Uint8Array.of(5, 0));
  const [, command, , type = 0] = await input.read(4);
  const host = await readHost(input, type);
  const port = (await input.read(2)).readUInt16BE();
  const sendReply = (code: number) => client.write(Uint8Array.of(5, code, 0, 1, 0, 0, 0, 0, 0, 0));
  const refuse = (code: number) => {
    sendReply(code);
    client.end();
  };
  if (command !== CONNECT) return refuse(WRONG_COMMAND);
  const target = await resolveAllowedAddress(host, port, isAllowlisted, listOwn);
  if ("refused" in target) return refuse(target.refused);
  const server = connect({ host: target.address, port, timeout: CONNECT_MS });
  let connected = false;
  server.once("timeout", () => server.destroy(new Error("timeout")));
  server.on("error", () => (connected ? client.destroy() : refuse(UNREACHABLE)));
  server.once("connect", () => {
    connected = true;
    server.setTimeout(0);
    server.setNoDelay(true);
    sendReply(GRANTED);
    input.pipeTo(server);
    server.pipe(client);
  });
  client.once("close", () => server.destroy());
  server.once("close", () => client.end());
}

async function readHost(input: ExactReader, type: number): Promise<string> {
  if (type === NAME) {
    const [length = 0] = await input.read(1);
    return (await input.read(length)).toString("latin1").toLowerCase();
  }
  const bytes = await input.read(type === IPV6 ? 16 : 4);
  if (type !== IPV6) return bytes.join(".");
  return Array.from({ length: 8 }, (_, index) => bytes.readUInt16BE(index * 2).toString(16)).join(":");
}

/** The address to connect to, or the SOCKS reply that refuses. */
async function resolveAllowedAddress(
  host: string,
  port: number,
  isAllowlisted: IsAllowlisted,
  listOwn: ListOwnAddresses,
): Promise<{ readonly address: string } | { readonly refused: number }> {
  const isHostAllowlisted = () => isAllowlisted(`${host.includes(":") ? `[${host}]` : host}:${port}`);
  const isAllowed = (address: string) => isPublicAddress(address) && !includesAddress(address, listOwn());
  if (isIP(host)) return isAllowed(host) || isHostAllowlisted() ? { address: host } : { refused: REFUSED };
  const addresses = await lookup(host, { all: true }).catch(() => []);
  if (addresses.length === 0) return { refused: NO_SUCH_HOST };
  const allowed =
    addresses.find(({ address }) => isAllowed(address)) ?? (isHostAllowlisted() ? addresses[0] : undefined);
  return allowed === undefined ? { refused: REFUSED } : { address: allowed.address };
}

/** Whether an address equals one of the others, in any notation, or embeds one (IPv4 in IPv6). */
function includesAddress(address: string, knownAddresses: readonly string[]): boolean {
  const normalize = (text: string) =>
    ipaddr.isValid(text) ? ipaddr.process(text).toNormalizedString() : text;
  const known = new Set(knownAddresses.map(normalize));
  return [address, ...embeddedIPv4(address)].some((candidate) => known.has(normalize(candidate)));
}

/** Reads exact numbers of bytes from a socket; `pipeTo` forwards the rest. */
class ExactReader {
  readonly #socket: Socket;
  #buffer = Buffer.alloc(0);
  #pendingRead: { readonly count: number; readonly give: (bytes: Buffer) => void } | null = null;
  readonly #onData = (bytes: Buffer): void => {
    this.#buffer = Buffer.concat([this.#buffer, bytes]);
    this.#take();
  };

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.on("data", this.#onData);
  }

  /** Reads the next `count` bytes. Only one call at a time. */
  read(count: number): Promise<Buffer> {
    return new Promise((resolve) => {
      this.#pendingRead = { count, give: resolve };
      this.#take();
    });
  }

  pipeTo(target: Socket): void {
    this.#socket.off("data", this.#onData);
    if (this.#buffer.length > 0) target.write(this.#buffer);
    this.#socket.pipe(target);
  }

  #take(): void {
    const pending = this.#pendingRead;
    if (pending === null || this.#buffer.length < pending.count) return;
    this.#pendingRead = null;
    const bytes = this.#buffer.subarray(0, pending.count);
    this.#buffer = this.#buffer.subarray(pending.count);
    pending.give(bytes);
  }
}
