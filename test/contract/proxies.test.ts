import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, describe, expect, it, onTestFinished } from "vitest";
import { ON_DENO } from "../support/runtime.ts";
import { startTestProxy, type TestProxyOptions } from "../support/test-proxy.ts";
import { startTestTarget } from "../support/test-target.ts";
import { until } from "../support/until.ts";
import { useGateway } from "../support/use-gateway.ts";

const { fetch } = useGateway();

interface ProxyTest {
  readonly success: boolean;
  readonly latency_ms: number;
  readonly message: string;
  readonly failed_at: string | null;
  readonly warning?: string;
}

const send = (path: string, body: unknown, method = "POST") =>
  fetch(`/admin${path}`, {
    method,
    headers: { authorization: "Bearer admin" },
    body: JSON.stringify(body),
  });
const test = async (body: object): Promise<ProxyTest> => (await send("/proxies/test", body)).json();

const plain = await startTestTarget(false);
const secure = await startTestTarget(true);
afterAll(async () => {
  await plain.close();
  await secure.close();
});

async function proxyOf(options: TestProxyOptions) {
  const proxy = await startTestProxy(options);
  onTestFinished(() => proxy.close());
  return { proxy, fields: { type: options.type, host: "127.0.0.1", port: proxy.port } };
}

describe.each(["http", "socks5"] as const)("POST /admin/proxies/test through %s", (type) => {
  it("measures the way to a target, plain and in TLS", async () => {
    const credentials = { username: "user", password: "proxy-password" };
    const { proxy, fields } = await proxyOf({ type, credentials });
    const target = `http://localhost:${plain.port}/echo`;
    expect(await test({ ...fields, ...credentials, target })).toEqual({
      success: true,
      latency_ms: expect.any(Number),
      message: expect.stringContaining("status 200"),
      proxy_id: "",
      proxy_type: type,
      target: `http://localhost:${plain.port}`,
      status_code: 200,
      failed_at: null,
    });
    const inTls = await test({ ...fields, ...credentials, target: `https://localhost:${secure.port}/echo` });
    expect(inTls).toMatchObject({
      success: true,
      message: expect.stringContaining("status 200"),
      ...(ON_DENO ? {} : { warning: expect.stringContaining("production network") }),
    });
    expect(proxy.targets.length).toBe(2);
    await until(
      async () => proxy.open,
      (open) => open === 0,
    );
  });

  it("tests a saved proxy by its id", async () => {
    const credentials = { username: "user", password: "proxy-password" };
    const { fields } = await proxyOf({ type, credentials });
    const id = `saved-${type}`;
    await send("/proxies", { id, ...fields, ...credentials });
    const target = `http://localhost:${plain.port}/echo`;
    expect(await test({ proxy_id: id, target })).toMatchObject({ success: true, proxy_id: id });
  });

  it("states what failed", async () => {
    const credentials = { username: "user", password: "proxy-password" };
    const target = `https://localhost:${secure.port}/echo`;
    const guarded = await proxyOf({ type, credentials });
    expect(await test({ ...guarded.fields, target })).toMatchObject({
      success: false,
      failed_at: "credentials",
      message: expect.stringContaining("wants a user name"),
    });
    const wrong = await test({ ...guarded.fields, username: "user", password: "wrong-password", target });
    expect(wrong).toMatchObject({ failed_at: "credentials", message: expect.stringContaining("refused") });
    expect(JSON.stringify(wrong)).not.toContain("wrong-password");
    const refusing = await proxyOf({ type, refuse: true });
    expect(await test({ ...refusing.fields, target })).toMatchObject({ failed_at: "target" });
    const open = await proxyOf({ type });
    expect(await test({ ...open.fields, target: "https://127.0.0.1:1" })).toMatchObject({
      failed_at: "target",
    });
    expect(await test({ ...open.fields, target: `https://other.test:${secure.port}` })).toMatchObject({
      failed_at: "tls",
      message: expect.stringContaining("no trusted TLS connection to other.test"),
    });
    await open.proxy.close();
    expect(await test({ ...open.fields, target })).toMatchObject({
      failed_at: "proxy",
      message: "the proxy cannot be reached",
    });
  });
});

describe("POST /admin/proxies/test", () => {
  it("is no success when a gateway on the way answers 502", async () => {
    const { fields } = await proxyOf({ type: "http" });
    const target = `http://localhost:${plain.port}/bad-gateway`;
    expect(await test({ ...fields, target })).toMatchObject({
      success: false,
      status_code: 502,
      failed_at: "answer",
      message: expect.stringContaining("502"),
    });
  });

  it("does not accept an ordinary web server as a proxy", async () => {
    const target = `http://localhost:${plain.port}/echo`;
    const answers = [
      "",
      "200 OK\r\ncontent-length: 0",
      "200 OK\r\ncontent-length: 2",
      "405 Not Allowed\r\ncontent-length: 0",
    ];
    for (const answer of answers) {
      const server = createServer((_, response) => response.end("ok"));
      if (answer !== "") {
        server.on("connect", (_, socket) => {
          socket.write(`HTTP/1.1 ${answer}\r\n\r\n${answer.endsWith("2") ? "ok" : ""}`);
          socket.on("data", () => socket.write("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"));
        });
      }
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      onTestFinished(() => {
        server.closeAllConnections();
        server.close();
      });
      const { port } = server.address() as AddressInfo;
      expect(await test({ type: "http", host: "127.0.0.1", port, target })).toMatchObject({
        success: false,
        failed_at: "proxy",
        message: expect.stringContaining("web server"),
      });
    }
  });

  it("accepts a proxy that opens no tunnels to plain targets", async () => {
    const { fields } = await proxyOf({ type: "http", refusesTunnels: true });
    const target = `http://localhost:${plain.port}/echo`;
    expect(await test({ ...fields, target })).toMatchObject({ success: true, status_code: 200 });
    const refusing = await proxyOf({ type: "http", refuse: true });
    expect(await test({ ...refusing.fields, target })).toMatchObject({ success: false, failed_at: "proxy" });
  });

  it("gives up on a silent proxy", { timeout: 25_000 }, async () => {
    const results = (["http", "socks5"] as const).map(async (type) => {
      const { proxy, fields } = await proxyOf({ type, silent: true });
      expect(await test({ ...fields, target: `https://localhost:${secure.port}` })).toMatchObject({
        success: false,
        failed_at: "timeout",
        message: expect.stringContaining("10 s"),
      });
      await until(
        async () => proxy.open,
        (open) => open === 0,
      );
    });
    await Promise.all(results);
  });

  it.each([
    [{ proxy_id: "none" }, 404, "none"],
    [{}, 400, "proxy_id"],
    [{ type: "http", port: 1 }, 400, "host"],
    [{ type: "http", host: "a" }, 400, "port"],
    [{ type: "ftp", host: "a", port: 1 }, 400, "type"],
    [{ type: "http", host: "a", port: 1, target: "file:///etc/passwd" }, 400, "target"],
  ])("refuses %j", async (body, status, field) => {
    const response = await send("/proxies/test", body);
    expect(response.status).toBe(status);
    expect(await response.json()).toEqual({ detail: expect.stringContaining(field) });
  });
});
