import type { AddressInfo } from "node:net";
import { createServer, type Socket } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { attributeFault } from "../../../../../src/gateway/accounts/fault-attribution.ts";
import { proxiedFetch } from "../../../../../src/gateway/upstream/proxy/proxied-fetch.ts";
import { until } from "../../../../support/until.ts";
import { nodeDial } from "./node-sockets.ts";

const CREDENTIALS = { username: "us:er-ü", password: `p:ß-${"long".repeat(40)}` };

/** A `fetch` through a proxy that reacts by `script` to the first bytes. */
async function through(type: "http" | "socks5", script: (client: Socket) => void, fields: object = {}) {
  let open = 0;
  const server = createServer((client) => {
    open += 1;
    client.on("close", () => {
      open -= 1;
    });
    client.on("error", () => client.destroy());
    client.once("data", () => {
      client.resume();
      script(client);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const fetch = proxiedFetch(nodeDial(""), { type, host: "127.0.0.1", port, ...CREDENTIALS, ...fields });
  const closed = () =>
    until(
      async () => open,
      (count) => count === 0,
    );
  return { fetch, closed };
}

/** Writes `piece` again and again until the other end closes. */
function flood(client: Socket, start: string, piece: string): void {
  client.write(start);
  const more = () => {
    while (!client.destroyed && client.write(piece));
  };
  client.on("drain", more);
  more();
}

const failureOf = (work: Promise<unknown>) =>
  work.then(
    () => expect.fail("it went well"),
    (error: unknown) => error,
  );

describe("a proxy that is asked for a tunnel is blamed itself when it", () => {
  it.each<[string, "http" | "socks5", (client: Socket) => void]>([
    ["answers garbage", "http", (client) => client.write("SSH-2.0-OpenSSH_9.6\r\n")],
    ["answers one endless line", "http", (client) => flood(client, "HTTP/1.1 200 ", "x".repeat(9_000))],
    ["answers endless headers", "http", (client) => flood(client, "HTTP/1.1 200 OK\r\n", "a: b\r\n")],
    ["answers endless interim answers", "http", (client) => flood(client, "", "HTTP/1.1 100 Wait\r\n\r\n")],
    ["answers a broken header", "http", (client) => client.write("HTTP/1.1 200 OK\r\n\u0000: b\r\n\r\n")],
    ["closes within its head", "http", (client) => client.end("HTTP/1.1 200 OK\r\nserver: x")],
    [
      "sends more than its answer",
      "http",
      (client) => client.write("HTTP/1.1 200 OK\r\n\r\nSSH-2.0-OpenSSH_9.6\r\n"),
    ],
    ["resets the connection", "http", (client) => client.resetAndDestroy()],
    ["answers garbage to SOCKS", "socks5", (client) => client.write("HTTP/1.1 400 Bad Request\r\n\r\n")],
    ["closes within a SOCKS handshake", "socks5", (client) => client.end(Uint8Array.of(5))],
    ["invents a SOCKS method", "socks5", (client) => client.write(Uint8Array.of(5, 9))],
  ])("%s", async (_, type, script) => {
    const { fetch, closed } = await through(type, script);
    const error = await failureOf(fetch("https://provider.test/v1"));
    expect(error).toMatchObject({ kind: "unreachable", stage: "proxy" });
    expect(attributeFault(error)).toBe("proxy");
    expect(String(error)).not.toContain("long");
    await closed();
  });
});

describe("an answer through a proxy", () => {
  it.each([
    ["a status above 599", "HTTP/1.1 799 Odd\r\n\r\nx"],
    ["control characters in its reason", "HTTP/1.1 200 O\u0001K\r\n\r\nx"],
  ])("with %s is a failure of the provider", async (_, answer) => {
    const { fetch, closed } = await through("http", (client) => client.end(answer, "latin1"));
    const error = await failureOf(fetch("http://provider.test/v1"));
    expect(error).toMatchObject({ kind: "unreachable", stage: "answer" });
    await closed();
  });

  it("with the status 205 has no body", async () => {
    const answer = "HTTP/1.1 205 Reset\r\ncontent-length: 1\r\n\r\nx";
    const { fetch, closed } = await through("http", (client) => client.write(answer));
    expect(await fetch("http://provider.test/v1")).toMatchObject({ status: 205, body: null });
    await closed();
  });
});
