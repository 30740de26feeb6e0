import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type EgressFilter, startEgressFilter } from "../../../../src/runtime/deno/egress-filter.ts";

const GRANTED = 0;
const REFUSED = 2;
const NO_SUCH_HOST = 4;

let target: Server;
let port: number;
let reached = 0;
let egress: EgressFilter;
const listed = new Set<string>();
/** Public addresses that this machine has beside its real ones. */
const OWN = ["1.1.1.1", "2606:4700:4700::1111"];

beforeAll(async () => {
  target = createServer((socket) => {
    reached += 1;
    socket.on("error", () => undefined);
    socket.pipe(socket);
  });
  target.listen(0, "127.0.0.1");
  await once(target, "listening");
  const address = target.address();
  port = address !== null && typeof address === "object" ? address.port : 0;
  egress = await startEgressFilter(
    (pair) => listed.has(pair),
    () => OWN,
  );
});
afterAll(() => {
  egress.close();
  target.close();
});

const name = (host: string) => [3, host.length, ...Buffer.from(host)];

/** Asks for a connection; returns the reply's code and the socket. `command` 1 is CONNECT. */
async function ask(address: readonly number[], command = 1): Promise<{ reply: number; socket: Socket }> {
  const { hostname, port: at } = new URL(egress.url);
  const socket = connect(Number(at), hostname);
  const read = reading(socket);
  socket.write(Uint8Array.of(5, 1, 0));
  expect([...(await read(2))]).toEqual([5, 0]);
  // In two pieces: a message does not come as one read.
  socket.write(Uint8Array.of(5, command));
  await new Promise((resolve) => setTimeout(resolve, 5));
  socket.write(Uint8Array.of(0, ...address, port >> 8, port & 0xff));
  return { reply: (await read(10))[1] ?? -1, socket };
}

function reading(socket: Socket): (count: number) => Promise<Buffer> {
  return async (count) => {
    for (;;) {
      const bytes: Buffer | null = socket.read(count);
      if (bytes !== null) return bytes;
      await once(socket, "readable");
    }
  };
}

async function replyTo(address: readonly number[], command?: number): Promise<number> {
  const { reply, socket } = await ask(address, command);
  socket.destroy();
  return reply;
}

describe("the filter between pages and the network", () => {
  it("refuses the machine's own public addresses, in every spelling", async () => {
    const v6 = [0x26, 0x06, 0x47, 0x00, 0x47, 0x00, 0, 0, 0, 0, 0, 0, 0, 0, 0x11, 0x11];
    const mapped = [...Array(10).fill(0), 255, 255, 1, 1, 1, 1];
    expect(await replyTo([1, 1, 1, 1, 1])).toBe(REFUSED);
    expect(await replyTo([4, ...v6])).toBe(REFUSED);
    expect(await replyTo([4, ...mapped])).toBe(REFUSED);
    expect(await replyTo(name("1.1.1.1"))).toBe(REFUSED);
  });

  it.each([
    ["compatible", "::1.1.1.1"],
    ["NAT64", "64:ff9b::1.1.1.1"],
    ["6to4", "2002:101:101::1"],
    ["Teredo, the client", "2001:0:808:808::fefe:fefe"],
    ["Teredo, the server", "2001:0:101:101::f7f7:f7f7"],
    ["ISATAP", "2606:4700::5efe:1.1.1.1"],
  ])("refuses IPv6 addresses that embed one of the machine's own: %s", async (_name, address) => {
    expect(await replyTo(name(address))).toBe(REFUSED);
  });

  it("refuses private addresses, also behind a name", async () => {
    listed.clear();
    const before = reached;
    expect(await replyTo([1, 127, 0, 0, 1])).toBe(REFUSED);
    expect(await replyTo([1, 169, 254, 169, 254])).toBe(REFUSED);
    expect(await replyTo([4, ...new Array(15).fill(0), 1])).toBe(REFUSED);
    expect(await replyTo([4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127, 0, 0, 1])).toBe(REFUSED);
    expect(await replyTo(name("localhost"))).toBe(REFUSED);
    expect(await replyTo(name("LOCALHOST"))).toBe(REFUSED);
    expect(await replyTo(name("127.0.0.1"))).toBe(REFUSED);
    expect(reached).toBe(before);
  });

  it("connects to a listed pair of host and port, and not to another port", async () => {
    listed.add(`localhost:${port}`);
    const { reply, socket } = await ask(name("localhost"));
    expect(reply).toBe(GRANTED);
    socket.write("hello");
    expect((await reading(socket)(5)).toString()).toBe("hello");
    socket.destroy();
    listed.clear();
    listed.add(`localhost:${port + 1}`);
    expect(await replyTo(name("localhost"))).toBe(REFUSED);
  });

  it("has a different reply for a name that does not exist", async () => {
    expect(await replyTo(name("does-not-exist.invalid"))).toBe(NO_SUCH_HOST);
  });

  it("refuses commands other than connect", async () => {
    expect(await replyTo([1, 127, 0, 0, 1], 2)).toBe(7);
  });

  it("survives clients that leave at any point", async () => {
    listed.add(`127.0.0.1:${port}`);
    for (const bytes of [[], [5], [5, 1, 0], [5, 1, 0, 5, 1, 0, 1, 127], [22, 3, 1, 2, 0, 1]]) {
      const { hostname, port: at } = new URL(egress.url);
      const socket = connect(Number(at), hostname);
      socket.on("error", () => undefined);
      await once(socket, "connect");
      socket.write(Uint8Array.from(bytes));
      socket.resetAndDestroy();
    }
    const { reply, socket } = await ask([1, 127, 0, 0, 1]);
    expect(reply).toBe(GRANTED);
    socket.resetAndDestroy();
    expect(await replyTo([1, 127, 0, 0, 1])).toBe(GRANTED);
  });
});
