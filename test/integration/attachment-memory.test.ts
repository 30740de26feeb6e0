import { once } from "node:events";
import { createServer } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { FaultUpstream } from "../support/fault-upstream.ts";
import { type Gateway, startGateway } from "../support/gateway.ts";

/** Bytes of `/long`, which come in pieces over half a second; `/gone` is refused before they have. */
const LONG_BYTES = 3_000_000;
const PIECES = 30;

/** Of it strangers may have a quarter: no two of those attachments. */
const BODY_BUDGET_BYTES = "16777216";

const server = createServer(async (request, response) => {
  if (request.url?.startsWith("/gone")) {
    await sleep(100);
    response.writeHead(404).end();
    return;
  }
  response.writeHead(200, { "content-type": "image/png" });
  for (let piece = 0; piece < PIECES && !response.destroyed; piece += 1) {
    response.write(Buffer.alloc(LONG_BYTES / PIECES));
    await sleep(15);
  }
  response.end();
});
let upstream: FaultUpstream;
let gateway: Gateway;
let host: string;

beforeAll(async () => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  host = `127.0.0.1:${typeof address === "object" ? address?.port : 0}`;
  upstream = await FaultUpstream.start({ text: "a b c" });
  gateway = await startGateway({
    vars: {
      PROVIDER_BASE_URL: upstream.url,
      PAGE_PRIVATE_HOSTS: host,
      BODY_BUDGET_BYTES,
      GATEWAY_CONFIG_JSON: JSON.stringify({
        keys: ["sk-dev"],
        accounts: [{ email: "one@sandbox.test", password: "sandbox" }],
      }),
    },
  });
});

afterAll(async () => {
  await gateway?.close();
  await upstream?.close();
  server.closeAllConnections();
  server.close();
});

/** What a request is answered with. */
async function ask(key: string, content: unknown): Promise<{ status: number; text: string }> {
  const response = await gateway.fetch("/v1/chat/completions", {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "gpt-4o", messages: [{ role: "user", content }] }),
  });
  return { status: response.status, text: await response.text() };
}

const pictures = (...paths: string[]) =>
  paths.map((path) => ({ type: "image_url", image_url: { url: `http://${host}${path}` } }));

test.each([
  ["a caller", "sk-dev", 6_000_000, 8],
  ["a stranger", "a-made-up-token", 900_000, 4],
])(
  "the memory for attachments of %s comes back when one of them cannot be loaded while the others still come",
  async (_, key, characters, times) => {
    const isShort = async () => (await ask(key, "x".repeat(characters))).text.includes("no memory left");
    expect(await isShort()).toBe(false);
    for (let n = 0; n < times; n += 1) {
      expect((await ask(key, pictures(`/gone?${n}`, `/long?${n}`))).status).toBe(400);
      // The other one would have come meanwhile.
      await sleep(PIECES * 25);
    }
    await expect.poll(isShort, { timeout: 15_000, interval: 500 }).toBe(false);
  },
  60_000,
);
