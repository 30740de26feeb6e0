import { afterAll, expect, test } from "vitest";
import { FaultUpstream } from "../support/fault-upstream.ts";
import { rawChat } from "../support/raw-client.ts";
import { DEV_KEY, useGateway } from "../support/use-gateway.ts";

/** Bodies of so many bytes are declared: 60 of them are more than there is memory for. */
const DECLARED = 1_000_000;
const BODY_BUDGET_BYTES = "16777216";

const upstream = await FaultUpstream.start({ text: "a b c" });
const gateway = useGateway({
  vars: {
    PROVIDER_BASE_URL: upstream.url,
    BODY_BUDGET_BYTES,
    GATEWAY_CONFIG_JSON: JSON.stringify({
      keys: [DEV_KEY],
      accounts: [{ email: "one@sandbox.test", password: "sandbox" }],
    }),
  },
});
afterAll(() => upstream.close());

async function status(): Promise<number> {
  const response = await gateway.chat("x".repeat(900_000));
  await response.body?.cancel();
  return response.status;
}

/** A client that leaves in the middle of its body, half of them without a word. */
async function leave(isReset: boolean): Promise<void> {
  const socket = await rawChat(gateway.gateway, `{"model":"${"x".repeat(100_000)}`, { declared: DECLARED });
  await new Promise((resolve) => setTimeout(resolve, 30));
  if (isReset) socket.resetAndDestroy();
  else socket.destroy();
}

test("the memory that is held for bodies comes back when their clients leave in the middle of them", async () => {
  expect(await status()).toBe(200);
  for (let n = 0; n < 60; n += 1) await leave(n % 2 === 0);
  await expect.poll(status, { timeout: 20_000, interval: 100 }).toBe(200);
}, 60_000);
