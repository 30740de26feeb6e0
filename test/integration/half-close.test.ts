import { once } from "node:events";
import { afterAll, expect, test } from "vitest";
import { FaultUpstream } from "../support/fault-upstream.ts";
import { rawChat } from "../support/raw-client.ts";
import { DEV_KEY, useGateway } from "../support/use-gateway.ts";

const released = Promise.withResolvers<void>();
const upstream = await FaultUpstream.start({ text: "a b c", hold: { at: 1, until: released.promise } });
const gateway = useGateway({
  vars: {
    PROVIDER_BASE_URL: upstream.url,
    GATEWAY_CONFIG_JSON: JSON.stringify({
      keys: [DEV_KEY],
      accounts: [{ email: "one@sandbox.test", password: "sandbox" }],
    }),
  },
});
afterAll(() => upstream.close());

// On Deno it gets none: test/deno/half-close.test.ts.
test("a client that closes its sending side after its request gets the answer", async () => {
  const messages = [{ role: "user", content: "hello" }];
  const socket = await rawChat(gateway.gateway, JSON.stringify({ model: "gpt-4o", messages }));
  let answer = "";
  socket.on("data", (bytes: Buffer) => {
    answer += bytes.toString("latin1");
  });
  await expect.poll(() => upstream.open).toBe(1);
  socket.end();
  await once(socket, "finish");
  released.resolve();
  await expect.poll(() => answer, { timeout: 15_000 }).toContain('"content":"a b c"');
  socket.destroy();
});
