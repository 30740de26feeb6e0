import type { ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, expect, test } from "vitest";
import { FaultUpstream } from "../support/fault-upstream.ts";
import { serve } from "../support/local-server.ts";
import { DEV_KEY, useGateway } from "../support/use-gateway.ts";

/** Bytes of `/long`, which come in pieces over half a second; `/gone` is refused before they have. */
const LONG_BYTES = 3_000_000;
const PIECES = 30;

/** Of it strangers may have a quarter: no two of those attachments. */
const BODY_BUDGET_BYTES = "16777216";

async function refuse(response: ServerResponse): Promise<void> {
  await sleep(100);
  response.writeHead(404).end();
}

async function trickle(response: ServerResponse): Promise<void> {
  response.writeHead(200, { "content-type": "image/png" });
  for (let piece = 0; piece < PIECES && !response.destroyed; piece += 1) {
    response.write(Buffer.alloc(LONG_BYTES / PIECES));
    await sleep(15);
  }
  response.end();
}

const site = await serve((_, response, { pathname }) => {
  void (pathname === "/gone" ? refuse(response) : trickle(response));
});
const upstream = await FaultUpstream.start({ text: "a b c" });
const gateway = useGateway({
  vars: {
    PROVIDER_BASE_URL: upstream.url,
    PAGE_PRIVATE_HOSTS: site.host,
    BODY_BUDGET_BYTES,
    GATEWAY_CONFIG_JSON: JSON.stringify({
      keys: [DEV_KEY],
      accounts: [{ email: "one@sandbox.test", password: "sandbox" }],
    }),
  },
});
afterAll(() => Promise.all([upstream.close(), site.close()]));

/** Sends a request and returns its answer. */
async function ask(key: string, content: unknown): Promise<{ status: number; text: string }> {
  const body = { model: "gpt-4o", messages: [{ role: "user", content }] };
  const response = await gateway.post("/v1/chat/completions", body, { authorization: `Bearer ${key}` });
  return { status: response.status, text: await response.text() };
}

const pictures = (...paths: string[]) =>
  paths.map((path) => ({ type: "image_url", image_url: { url: `${site.origin}${path}` } }));

test.each([
  ["a caller", DEV_KEY, 6_000_000, 8],
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
