import { afterAll, beforeAll, expect, test } from "vitest";
import { FaultUpstream } from "../support/fault-upstream.ts";
import { type Gateway, startGateway } from "../support/gateway.ts";
import { rawChat } from "../support/raw-client.ts";

/** Bodies of so many bytes are declared: 60 of them are more than there is memory for. */
const DECLARED = 1_000_000;
const BODY_BUDGET_BYTES = "16777216";

let upstream: FaultUpstream;
let gateway: Gateway;

beforeAll(async () => {
  upstream = await FaultUpstream.start({ text: "a b c" });
  gateway = await startGateway({
    vars: {
      PROVIDER_BASE_URL: upstream.url,
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
});

async function status(): Promise<number> {
  const response = await gateway.fetch("/v1/chat/completions", {
    method: "POST",
    headers: { authorization: "Bearer sk-dev", "content-type": "application/json" },
    body: JSON.stringify({ model: "gpt-4o", messages: [{ role: "user", content: "x".repeat(900_000) }] }),
  });
  await response.body?.cancel();
  return response.status;
}

/** A client that leaves in the middle of its body, half of them without a word. */
async function leave(isReset: boolean): Promise<void> {
  const socket = await rawChat(gateway, `{"model":"${"x".repeat(100_000)}`, { declared: DECLARED });
  await new Promise((resolve) => setTimeout(resolve, 30));
  if (isReset) socket.resetAndDestroy();
  else socket.destroy();
}

test("the memory that is held for bodies comes back when their clients leave in the middle of them", async () => {
  expect(await status()).toBe(200);
  for (let n = 0; n < 60; n += 1) await leave(n % 2 === 0);
  await expect.poll(status, { timeout: 20_000, interval: 100 }).toBe(200);
}, 60_000);
