import { abortAllDurableObjects, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import type { UsageMessage } from "../../src/core/ports/usage.ts";
import { DAY_MS } from "../../src/core/units.ts";
import { UsageTally } from "../../src/records/usage/usage-tally.ts";
import { emptyConfig } from "../support/config.ts";
import { used } from "../unit/records/usage/support.ts";

test("keeps usage after a restart, and counts no message twice", async () => {
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

test("adds amounts of any size up to finite sums, and moves invalid rows away", async () => {
  const object = env.USAGE.getByName("large");
  const config = { ...emptyConfig(), prices: { flash: { input: 375_000, output: 375_000 } } };
  const tally = new UsageTally();
  for (let round = 0; round < 4; round += 1) {
    tally.count(
      used({ promptTokens: 20_000_000, cachedTokens: 0, completionTokens: 10_000_000 }),
      Date.now(),
    );
    await tally.send({ write: async (message) => object.write(message) }, { config }, Date.now());
  }
  const from = Math.floor(Date.now() / DAY_MS) * DAY_MS - DAY_MS;
  const query = {
    from,
    to: from + 3 * DAY_MS,
    groupBy: [],
    filters: {},
    limit: 10,
    granularity: "total" as const,
  };
  const cost = 4 * 30 * 375_000 * 1e9;
  expect((await object.read(query)).totals.cost_nano).toBeCloseTo(cost, -3);
  expect(await object.keys()).toMatchObject([{ cost_nano: cost }]);

  // An earlier version stored counts of providers without limits, and a row is damaged.
  await runInDurableObject(object, (_, { storage }) => {
    storage.sql.exec("update usage_day set cost_nano = 9e999, duration = '{'");
    storage.sql.exec("update usage_key set prompt_tokens = 9e999");
  });
  expect((await object.read({ ...query, granularity: "day" })).totals).toMatchObject({
    requests: 0,
    cost_nano: 0,
  });
  expect(await object.keys()).toEqual([]);
  const rows = await runInDurableObject(object, (_, { storage }) =>
    storage.sql.exec("select source, row from set_aside order by source").toArray(),
  );
  expect(rows).toMatchObject([
    { source: "usage_day", row: expect.stringContaining('"cost_nano":"9.0e+999"') },
    { source: "usage_key", row: expect.stringContaining('"prompt_tokens":"9.0e+999"') },
  ]);
});
