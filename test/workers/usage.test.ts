import { abortAllDurableObjects } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import type { UsageMessage } from "../../src/platform/usage.ts";
import { DAY_MS } from "../../src/usage/range.ts";
import { UsageTally } from "../../src/usage/tally.ts";
import { emptyConfig } from "../support/config.ts";
import { used } from "../unit/usage/support.ts";

test("the books are there again after a restart, and count no message twice", async () => {
  const object = () => env.USAGE.getByName("restart");
  const tally = new UsageTally();
  const messages: UsageMessage[] = [];
  const store = {
    write: async (message: UsageMessage) => {
      messages.push(message);
      await object().write(message);
    },
  };
  const send = async () => {
    tally.count(used(), Date.now());
    await tally.send(store, { config: emptyConfig() }, Date.now());
  };
  await send();
  await abortAllDurableObjects();
  await send();
  await abortAllDurableObjects();
  for (const message of messages) await object().write(message);
  const from = Math.floor(Date.now() / DAY_MS) * DAY_MS - DAY_MS;
  const query = { from, to: from + 3 * DAY_MS, groupBy: ["key" as const], filters: {}, limit: 10 };
  const { groups } = await object().read({ ...query, granularity: "total" });
  expect(groups).toMatchObject([{ dimensions: { key: "key_1" }, requests: 2, prompt_tokens: 20 }]);
  expect(await object().keys()).toMatchObject([{ key: "key_1", requests: 2 }]);
});
