import { readFileSync } from "node:fs";
import { afterAll, describe, expect, it, onTestFinished, vi } from "vitest";
import type { OutboundProxy } from "../../../../../src/core/ports/upstream.ts";
import { proxiedFetch } from "../../../../../src/gateway/upstream/proxy/proxied-fetch.ts";
import { startTestProxy, type TestProxyOptions } from "../../../../support/test-proxy.ts";
import { startTestTarget, TEST_CA_FILE } from "../../../../support/test-target.ts";
import { until } from "../../../../support/until.ts";
import { nodeDial } from "./node-sockets.ts";

const dial = nodeDial(readFileSync(TEST_CA_FILE, "utf8"));
const plain = await startTestTarget(false);
const secure = await startTestTarget(true);
afterAll(async () => {
  await plain.close();
  await secure.close();
});

async function through(options: TestProxyOptions, fields: Partial<OutboundProxy> = {}) {
  const proxy = await startTestProxy(options);
  onTestFinished(() => proxy.close());
  const { type } = options;
  const address = { type, host: "127.0.0.1", port: proxy.port, username: "", password: "", ...fields };
  return { proxy, fetch: proxiedFetch(dial, address) };
}

const TYPES = ["http", "socks5"] as const;
const WAYS = TYPES.flatMap((type) => [
  { type, scheme: "http" },
  { type, scheme: "https" },
]);
const base = (scheme: string) =>
  scheme === "https" ? `https://localhost:${secure.port}` : `http://localhost:${plain.port}`;

describe.each(WAYS)("$scheme through $type", ({ type, scheme }) => {
  it("carries a request and its answer", async () => {
    const { fetch, proxy } = await through({ type });
    const response = await fetch(`${base(scheme)}/echo?a=1&b=%20`, {
      method: "POST",
      headers: { authorization: "Bearer token", "content-type": "application/json" },
      body: '{"text":"ä"}',
    });
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("application/json");
    const echo: { method: string; url: string; headers: Record<string, string>; body: string } =
      await response.json();
    expect(echo).toMatchObject({ method: "POST", url: "/echo?a=1&b=%20" });
    expect(Buffer.from(echo.body, "latin1").toString()).toBe('{"text":"ä"}');
    expect(echo.headers).toMatchObject({
      authorization: "Bearer token",
      "content-length": "13",
      host: new URL(base(scheme)).host,
    });
    expect(Object.keys(echo.headers).join()).not.toContain("proxy");
    expect(proxy.targets).toEqual([new URL(base(scheme)).host]);
    await until(
      async () => proxy.open,
      (open) => open === 0,
    );
  });

  it("sends its credentials in any script", async () => {
    const credentials = { username: "jörg", password: "pass:wörd" };
    const { fetch } = await through({ type, credentials }, credentials);
    expect((await fetch(`${base(scheme)}/echo`)).status).toBe(200);
  });

  it("sends a body that streams", async () => {
    const { fetch } = await through({ type });
    let n = 0;
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        if (n === 50) controller.close();
        else controller.enqueue(new TextEncoder().encode(`${n++},`));
      },
    });
    const echo: { headers: Record<string, string>; body: string } = await (
      await fetch(`${base(scheme)}/echo`, { method: "POST", body })
    ).json();
    expect(echo.headers["transfer-encoding"]).toBe("chunked");
    expect(echo.body).toBe(Array.from({ length: 50 }, (_, index) => `${index},`).join(""));
  });

  it("passes on a stream without delay", async () => {
    const { fetch } = await through({ type });
    const response = await fetch(`${base(scheme)}/ticks`);
    let reads = 0;
    const decoder = new TextDecoder();
    let text = "";
    for await (const bytes of response.body ?? []) {
      reads += 1;
      text += decoder.decode(bytes);
    }
    expect(text).toBe("data: 0\n\ndata: 1\n\ndata: 2\n\ndata: 3\n\ndata: 4\n\n");
    expect(reads).toBeGreaterThan(1);
  });

  it.each([
    ["/until-close", "all that there is"],
    ["/interim", "after all"],
    ["/gzip", "unpacked"],
    ["/empty", ""],
  ])("reads the body of %s", async (path, text) => {
    const { fetch, proxy } = await through({ type });
    expect(await (await fetch(base(scheme) + path)).text()).toBe(text);
    await until(
      async () => proxy.open,
      (open) => open === 0,
    );
  });

  it("passes on a refusal as an answer", async () => {
    const { fetch } = await through({ type });
    const response = await fetch(`${base(scheme)}/nothing`);
    expect(response.status).toBe(404);
    expect(await response.text()).toBe("nothing here");
  });

  it("carries a large answer whole", async () => {
    const { fetch } = await through({ type });
    const bytes = await (await fetch(`${base(scheme)}/big`)).arrayBuffer();
    expect(bytes.byteLength).toBe(4 * 1024 * 1024);
  });

  it("fails when an answer is cut short", async () => {
    const { fetch } = await through({ type });
    const response = await fetch(`${base(scheme)}/short`);
    await expect(response.text()).rejects.toThrow("broke off");
  });

  it("ends the connection when the body is cancelled", async () => {
    const { fetch, proxy } = await through({ type });
    const response = await fetch(`${base(scheme)}/endless`);
    const reader = response.body?.getReader();
    await reader?.read();
    await reader?.cancel();
    await until(
      async () => proxy.open,
      (open) => open === 0,
    );
  });

  it.each(["/silent", "/endless"])("ends %s when the signal aborts", async (path) => {
    const { fetch, proxy } = await through({ type });
    const abort = new AbortController();
    const reason = new Error("enough");
    const work = fetch(base(scheme) + path, { signal: abort.signal }).then((response) => response.text());
    setTimeout(() => abort.abort(reason), 150);
    await expect(work).rejects.toBe(reason);
    await until(
      async () => proxy.open,
      (open) => open === 0,
    );
  });
});

describe.each(TYPES)("a failure through %s has a clear message", (type) => {
  const failure = (fetch: ReturnType<typeof proxiedFetch>, url: string) =>
    fetch(url).then(
      () => expect.fail("it went well"),
      (error: unknown) => error,
    );

  it("a missing proxy", async () => {
    const gone = await startTestProxy({ type });
    await gone.close();
    const fetch = proxiedFetch(dial, {
      type,
      host: "127.0.0.1",
      port: gone.port,
      username: "",
      password: "",
    });
    expect(await failure(fetch, base("https"))).toMatchObject({
      kind: "unreachable",
      stage: "proxy",
      message: "the proxy cannot be reached",
    });
  });

  it.each(["http", "https"])("missing and wrong credentials, %s", async (scheme) => {
    const credentials = { username: "user", password: "right-password" };
    const without = await through({ type, credentials });
    expect(await failure(without.fetch, base(scheme))).toMatchObject({
      stage: "credentials",
      message: expect.stringContaining("wants a user name"),
    });
    const wrong = await through({ type, credentials }, { username: "user", password: "wrong-password" });
    const error = await failure(wrong.fetch, base(scheme));
    expect(error).toMatchObject({ stage: "credentials", message: expect.stringContaining("refused") });
    expect(JSON.stringify(error, Object.getOwnPropertyNames(error))).not.toContain("wrong-password");
  });

  it("a target that the proxy refuses, or cannot reach", async () => {
    const refusing = await through({ type, refuse: true });
    expect(await failure(refusing.fetch, base("https"))).toMatchObject({ stage: "target" });
    const { fetch } = await through({ type });
    expect(await failure(fetch, "https://127.0.0.1:1")).toMatchObject({
      stage: "target",
      message: expect.stringContaining("127.0.0.1:1"),
    });
  });

  it("a certificate for somebody else", async () => {
    const { fetch } = await through({ type });
    expect(await failure(fetch, `https://other.test:${secure.port}/echo`)).toMatchObject({
      stage: "tls",
      message: "no trusted TLS connection to other.test through the proxy",
    });
  });

  it("a target without TLS", async () => {
    const { fetch } = await through({ type });
    expect(await failure(fetch, `https://localhost:${plain.port}/echo`)).toMatchObject({ stage: "tls" });
  });

  it("something that is not HTTP", async () => {
    const { fetch } = await through({ type });
    expect(await failure(fetch, `${base("https")}/nonsense`)).toMatchObject({
      stage: "answer",
      message: expect.stringContaining("not HTTP"),
    });
  });

  it("the other kind of proxy", async () => {
    const other = type === "http" ? "socks5" : "http";
    const { fetch } = await through({ type: other }, { type });
    expect(await Promise.race([failure(fetch, base("https")), failureAfter(500)])).toMatchObject({
      stage: expect.stringMatching(/^(?:proxy|answer|late)$/),
    });
  });
});

/** Some servers wait for more when they are spoken to in the wrong tongue. */
async function failureAfter(milliseconds: number): Promise<unknown> {
  await new Promise((resolve) => setTimeout(resolve, milliseconds));
  return { stage: "late" };
}

describe("a silent proxy", () => {
  it.each(TYPES)("(%s) fails after 15 s", async (type) => {
    const { fetch, proxy } = await through({ type, silent: true });
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    try {
      const failed = expect(fetch(`${base("https")}/echo`)).rejects.toMatchObject({ stage: "proxy" });
      await vi.advanceTimersByTimeAsync(15_000);
      await failed;
    } finally {
      vi.useRealTimers();
    }
    await until(
      async () => proxy.open,
      (open) => open === 0,
    );
  });
});
