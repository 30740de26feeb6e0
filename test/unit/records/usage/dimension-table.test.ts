import { expect, test } from "vitest";
import { configSchema } from "../../../../src/core/config/schema.ts";
import { SqlUsage } from "../../../../src/records/usage/sql-usage.ts";
import { UsageTally } from "../../../../src/records/usage/usage-tally.ts";
import { memoryDatabase } from "../archive/sqlite.ts";
import { used } from "./support.ts";

const NOW = Date.UTC(2026, 10, 22, 12);
const OLD = ["key", "requested_model", "model", "provider", "account", "dialect", "operation", "outcome"];
const config = { config: configSchema.parse({}) };

async function count(store: SqlUsage, ...requests: Parameters<typeof used>[0][]): Promise<void> {
  const tally = new UsageTally();
  for (const request of requests) tally.count(used(request), NOW);
  await tally.send(store, config, NOW);
}

const read = (store: SqlUsage, groupBy: readonly ("team" | "tag" | "key")[], filters = {}) =>
  store.read({ from: 0, to: NOW + 86_400_000, granularity: "total", groupBy, filters, limit: 1_000 });

const byTag = (store: SqlUsage, filters = {}) =>
  read(store, ["tag"], filters)
    .groups.map(({ dimensions, requests }) => [dimensions.tag ?? "", requests] as const)
    .toSorted();

test("keeps usage of an earlier version, without a team", async () => {
  const sql = memoryDatabase();
  await count(new SqlUsage(sql, () => NOW), { key: "old" });
  const columns = OLD.map((name) => `${name} text not null`).join(", ");
  const names = OLD.join(", ");
  sql.all("alter table usage_dimension rename to newer");
  sql.all(`create table usage_dimension(id integer primary key, ${columns}, unique(${names}))`);
  sql.all(`insert into usage_dimension(id, ${names}) select id, ${names} from newer`);
  sql.all("drop table newer");
  const store = new SqlUsage(sql, () => NOW);
  await count(store, { key: "new", team: "core" }, { key: "new" });
  const { groups } = read(store, ["key", "team"]);
  expect(groups.map(({ dimensions, requests }) => ({ ...dimensions, requests }))).toEqual(
    expect.arrayContaining([
      { key: "old", team: "", requests: 1 },
      { key: "new", team: "core", requests: 1 },
      { key: "new", team: "", requests: 1 },
    ]),
  );
});

test("counts a request with several tags for each tag, and once in the totals", async () => {
  const store = new SqlUsage(memoryDatabase(), () => NOW);
  await count(store, { tag: "a,b" }, { tag: "b" }, {});
  expect(byTag(store)).toEqual([
    ["", 1],
    ["a", 1],
    ["b", 2],
  ]);
  expect(byTag(store, { tag: ["a"] })).toEqual(
    expect.arrayContaining([
      ["a", 1],
      ["b", 1],
    ]),
  );
  expect(read(store, ["tag"]).totals.requests).toBe(3);
  expect(read(store, [], { tag: ["b"] }).totals.requests).toBe(2);
});

test("counts the lists of tags of one key beyond the first 100 together", async () => {
  const store = new SqlUsage(memoryDatabase(), () => NOW);
  await count(store, ...Array.from({ length: 150 }, (_, index) => ({ tag: `t${index}` })));
  const groups = new Map(byTag(store).map(([tag, requests]) => [tag, requests]));
  expect(groups.size).toBe(101);
  expect(groups.get("other")).toBe(50);
});

test("assigns rows of an earlier version under a driver's name to the default provider", async () => {
  const sql = memoryDatabase();
  let now = NOW;
  await count(new SqlUsage(sql, () => now), { provider: "openai" }, { provider: "anthropic" });
  sql.all("drop table usage_naming");
  now += 86_400_000;
  const store = new SqlUsage(sql, () => now);
  const tally = new UsageTally();
  for (const provider of ["default", "openai"]) tally.count(used({ provider }), now + 3_600_000);
  await tally.send(store, config, now);
  const byProvider = (defaultProviderNames: readonly string[], provider?: string) => {
    const filters = provider === undefined ? {} : { provider: [provider] };
    const range = { from: 0, to: now + 86_400_000, granularity: "hour", limit: 1_000 } as const;
    return store
      .read({ ...range, groupBy: ["provider"], filters, defaultProviderNames })
      .groups.map(({ dimensions, requests }) => `${dimensions.provider} ${requests}`)
      .toSorted();
  };
  expect(byProvider(["openai", "sessions"])).toEqual(["anthropic 1", "default 1", "default 1", "openai 1"]);
  expect(byProvider(["openai"], "default")).toEqual(["default 1", "default 1"]);
  expect(byProvider(["openai"], "openai")).toEqual(["openai 1"]);
  // While a provider has the id of a driver, its rows and earlier rows under that name cannot be told apart.
  expect(byProvider([], "openai")).toEqual(["openai 1", "openai 1"]);
});
