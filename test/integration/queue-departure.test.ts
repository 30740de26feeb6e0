import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { FaultUpstream } from "../support/fault-upstream.ts";
import { type Gateway, startGateway } from "../support/gateway.ts";
import { rawChat } from "../support/raw-client.ts";

const body = (stream: boolean) =>
  JSON.stringify({ model: "gpt-4o", stream, messages: [{ role: "user", content: "hello" }] });

let upstream: FaultUpstream;
let gateway: Gateway;

beforeAll(async () => {
  upstream = await FaultUpstream.start({ text: "a b c d e f", stallAfter: 3 });
  gateway = await startGateway({
    vars: {
      PROVIDER_BASE_URL: upstream.url,
      GATEWAY_CONFIG_JSON: JSON.stringify({
        keys: ["sk-dev"],
        accounts: [{ email: "one@sandbox.test", password: "sandbox" }],
        runtime: { account_max_inflight: 1, account_max_queue: 10 },
      }),
      KEEP_ALIVE_MS: "200",
    },
  });
});

afterAll(async () => {
  await gateway?.close();
  await upstream?.close();
});

async function status(): Promise<{ in_use: number; waiting: number }> {
  const response = await gateway.fetch("/admin/queue/status", { headers: { authorization: "Bearer admin" } });
  const { in_use, waiting }: { in_use: number; waiting: number } = await response.json();
  return { in_use, waiting };
}

const request = (stream = true) => rawChat(gateway, body(stream));

/** How the last generation ended, as the history tells it. */
async function lastEnd(): Promise<unknown> {
  const response = await gateway.fetch("/admin/chat-history", { headers: { authorization: "Bearer admin" } });
  const { items }: { items: { status: string; status_code: number; stream: boolean }[] } =
    await response.json();
  return items[0];
}

const settles = (expected: { in_use: number; waiting: number }) =>
  expect.poll(status, { interval: 20 }).toEqual(expected);

describe("clients that leave while they wait for an account", () => {
  test("leave the queue at once after a reset, and when their turn comes after a close", async () => {
    const holder = await request();
    await settles({ in_use: 1, waiting: 0 });
    const resetting = await request();
    await settles({ in_use: 1, waiting: 1 });
    const closing = await request();
    await settles({ in_use: 1, waiting: 2 });
    resetting.resetAndDestroy();
    await settles({ in_use: 1, waiting: 1 });
    // The runtime takes an orderly close for a client that has finished sending; only a failed write tells it apart.
    closing.destroy();
    holder.destroy();
    await settles({ in_use: 0, waiting: 0 });
  });
});

// Nothing is written to it that could fail, and its work is not under `waitUntil` before it leaves.
describe("a client that leaves while it waits for a whole answer", () => {
  test("frees its account, and the history has its outcome", async () => {
    const waiting = await request(false);
    await settles({ in_use: 1, waiting: 0 });
    await expect.poll(() => upstream.open).toBeGreaterThan(0);
    waiting.resetAndDestroy();
    await settles({ in_use: 0, waiting: 0 });
    await expect.poll(lastEnd).toMatchObject({ status: "cancelled", status_code: 499, stream: false });
    await expect.poll(() => upstream.open).toBe(0);
  });
});
