import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import type { Price } from "../../../../src/core/config/schemas/price-schema.ts";
import type { RequestUsage } from "../../../../src/core/ports/usage.ts";
import {
  OTHER_VALUES,
  type UsageDimension,
  type UsageMessage,
  type UsageQuery,
} from "../../../../src/core/ports/usage.ts";
import { DAY_MS, HOUR_MS } from "../../../../src/core/units.ts";
import { SqlUsage } from "../../../../src/records/usage/sql-usage.ts";
import { UsageTally } from "../../../../src/records/usage/usage-tally.ts";
import { emptyConfig } from "../../../support/config.ts";
import "../../../support/properties.ts";
import { memoryDatabase } from "../archive/sqlite.ts";
import { used } from "./support.ts";

const NOON = Date.UTC(2026, 10, 22, 12);
const TODAY = Date.UTC(2026, 10, 22);

const everything: UsageQuery = {
  from: TODAY,
  to: TODAY + DAY_MS,
  granularity: "total",
  groupBy: [],
  filters: {},
  limit: 10_000,
};

function setUp(prices: Record<string, Price> = {}, sql = memoryDatabase()) {
  let time = NOON;
  const open = () => new SqlUsage(sql, () => time);
  let usage = open();
  const tally = new UsageTally();
  const config = { config: { ...emptyConfig(), prices } };
  return {
    sql,
    tally,
    config,
    get usage() {
      return usage;
    },
    at: (now: number) => {
      time = now;
    },
    /** The object is started anew on its storage. */
    evict: () => {
      usage = open();
    },
    take: async (requests: readonly RequestUsage[], now = NOON) => {
      for (const request of requests) tally.count(request, now);
      await tally.send(usage, config, now);
    },
    read: (changes: Partial<UsageQuery> = {}) => usage.read({ ...everything, ...changes }),
  };
}

const by = (name: UsageDimension): Partial<UsageQuery> => ({ groupBy: [name] });

describe("usage", () => {
  it("adds up requests, tokens, attempts and cost", async () => {
    const { take, read } = setUp({ flash: { input: 1, output: 2 } });
    await take([
      used(),
      used({ queueMs: 30, attempts: 2 }),
      used({ outcome: "cancelled", completionTokens: 1 }),
    ]);
    expect(read().totals).toMatchObject({
      requests: 3,
      succeeded: 2,
      cancelled: 1,
      failed: 0,
      prompt_tokens: 30,
      cached_tokens: 12,
      completion_tokens: 11,
      reasoning_tokens: 5,
      attempts: 4,
      queue_ms: 30,
      duration_ms: 300,
      cost_nano: 30 * 1_000 + 11 * 2_000,
    });
  });

  it("adds up the details of tokens, and requests of the provider's own tools", async () => {
    const prices = {
      flash: { input: 1, cache_read: 0.1, cache_write_5m: 1.25, cache_write_1h: 2, output: 5 },
    };
    const { take, read, usage } = setUp(prices);
    const details = {
      promptTokens: 1_000,
      cachedTokens: 600,
      cacheWrite5mTokens: 100,
      cacheWrite1hTokens: 50,
      audioInputTokens: 20,
      completionTokens: 100,
      reasoningTokens: 60,
      audioOutputTokens: 30,
      webSearches: 2,
      webFetches: 1,
    };
    await take([used(details), used(details)]);
    const sums = {
      prompt_tokens: 2_000,
      cached_tokens: 1_200,
      cache_write_5m_tokens: 200,
      cache_write_1h_tokens: 100,
      audio_input_tokens: 40,
      completion_tokens: 200,
      reasoning_tokens: 120,
      audio_output_tokens: 60,
      web_searches: 4,
      web_fetches: 2,
      // Reasoning is part of the output.
      cost_nano: 500 * 1_000 + 1_200 * 100 + 200 * 1_250 + 100 * 2_000 + 200 * 5_000,
    };
    for (const name of ["key", "model", "provider"] as const)
      expect(read(by(name)).groups).toMatchObject([sums]);
    expect(usage.listKeyUsage()).toMatchObject([{ ...sums, today: sums }]);
    const minute = { from: NOON, to: NOON + HOUR_MS, step: 60_000 };
    const { cost_nano, prompt_tokens, cached_tokens } = sums;
    expect(usage.readActivity(minute).totals).toMatchObject({ cost_nano, prompt_tokens, cached_tokens });
  });

  it("counts no more cached tokens than the prompt has", async () => {
    const { take, read } = setUp({ flash: { input: 1, output: 0 } });
    await take([used({ promptTokens: 10, cachedTokens: 8, cacheWrite5mTokens: 8, cacheWrite1hTokens: 8 })]);
    expect(read().totals).toMatchObject({
      cached_tokens: 8,
      cache_write_5m_tokens: 2,
      cache_write_1h_tokens: 0,
      cost_nano: 10_000,
    });
  });

  it("keeps the price that a request had", async () => {
    const { take, read, config } = setUp({ flash: { input: 1, output: 0 } });
    await take([used()]);
    Object.assign(config.config.prices, { flash: { input: 5, output: 0 } });
    expect(read().totals.cost_nano).toBe(10_000);
  });

  it("groups as requested, the busiest first", async () => {
    const { take, read } = setUp();
    await take([used({ key: "a" }), used({ key: "b" }), used({ key: "b", model: "pro" })]);
    expect(read(by("key")).groups.map(({ dimensions, requests }) => [dimensions.key, requests])).toEqual([
      ["b", 2],
      ["a", 1],
    ]);
    expect(read({ groupBy: ["key", "model"] }).groups).toHaveLength(3);
  });

  it("applies the filters", async () => {
    const { take, read } = setUp();
    await take([used({ key: "a" }), used({ key: "b" }), used({ key: "b", dialect: "messages" })]);
    expect(read({ filters: { key: ["b"] } }).totals.requests).toBe(2);
    expect(read({ filters: { key: ["b"], dialect: ["messages", "responses"] } }).totals.requests).toBe(1);
    expect(read({ filters: { key: ["'; drop table usage_day; --"] } }).totals.requests).toBe(0);
  });

  it("divides time into hours and days", async () => {
    const { take, read, at } = setUp();
    await take([used()], NOON - DAY_MS);
    await take([used(), used()], NOON);
    at(NOON + HOUR_MS);
    await take([used()], NOON + HOUR_MS);
    const from = TODAY - DAY_MS;
    expect(read({ from, granularity: "hour" }).groups.map((group) => [group.at, group.requests])).toEqual([
      [NOON - DAY_MS, 1],
      [NOON, 2],
      [NOON + HOUR_MS, 1],
    ]);
    expect(read({ from, granularity: "day" }).groups.map((group) => [group.at, group.requests])).toEqual([
      [from, 1],
      [TODAY, 3],
    ]);
    expect(read({ from: NOON, to: NOON + HOUR_MS }).totals.requests).toBe(2);
  });

  it("has percentiles of each group and of all", async () => {
    const { take, read } = setUp();
    const slow = Array.from({ length: 10 }, () => used({ key: "slow", durationMs: 10_000 }));
    const fast = Array.from({ length: 90 }, () =>
      used({ key: "fast", durationMs: 100, firstTokenMs: undefined }),
    );
    await take([...slow, ...fast]);
    const { groups, totals } = read(by("key"));
    const near = (value: number | undefined, to: number) => Math.abs((value ?? 0) - to) <= to * 0.05;
    expect(near(groups[1]?.times.duration?.p50, 10_000)).toBe(true);
    expect(near(totals.times.duration?.p50, 100)).toBe(true);
    expect(near(totals.times.duration?.p95, 10_000)).toBe(true);
    expect(groups[0]?.times.first_token).toBeNull();
  });

  it("states that there are more groups than requested", async () => {
    const { take, read } = setUp();
    await take([used({ key: "a" }), used({ key: "b" }), used({ key: "c" })]);
    expect(read({ ...by("key"), limit: 2 })).toMatchObject({ truncated: true, totals: { requests: 3 } });
    expect(read({ ...by("key"), limit: 3 }).truncated).toBe(false);
  });

  it("has the last use of a key, and its usage of today", async () => {
    const { take, usage, at } = setUp();
    at(NOON - DAY_MS);
    await take([used({ key: "a" })], NOON - DAY_MS);
    at(NOON);
    await take([used({ key: "a" }), used({ key: "b" })], NOON);
    expect(usage.listKeyUsage()).toMatchObject([
      { key: "a", last_used: NOON, requests: 2, today: { requests: 1, prompt_tokens: 10 } },
      { key: "b", last_used: NOON, requests: 1, today: { requests: 1 } },
    ]);
    at(NOON + DAY_MS);
    expect(usage.listKeyUsage()[0]?.today.requests).toBe(0);
  });

  it("keeps hours for 35 days, days for two years, and the total of a key", async () => {
    const { take, read, at, usage } = setUp();
    await take([used()]);
    const later = (days: number) => NOON + days * DAY_MS;
    at(later(34));
    await take([used()], later(34));
    expect(read({ granularity: "hour" }).groups).toHaveLength(1);
    at(later(37));
    await take([used()], later(37));
    expect(read({ granularity: "hour" }).groups).toHaveLength(0);
    expect(read({ granularity: "day" }).groups).toHaveLength(1);
    at(later(733));
    await take([used()], later(733));
    expect(read({ granularity: "day" }).groups).toHaveLength(0);
    expect(usage.listKeyUsage()[0]?.requests).toBe(4);
  });
});

describe("a flood of made-up names", () => {
  it("becomes `other`, and is counted", async () => {
    const { take, read, usage } = setUp();
    for (let n = 0; n < 30; n += 1) {
      await take(
        Array.from({ length: 100 }, (_, m) => used({ requested_model: `made-up-${n}-${m}`, model: `m${m}` })),
      );
    }
    const { groups, totals } = read({ groupBy: ["requested_model", "model"] });
    expect(totals.requests).toBe(3_000);
    expect(groups.length).toBeLessThan(220);
    expect(
      groups.find(({ dimensions }) => dimensions.requested_model === OTHER_VALUES)?.requests,
    ).toBeGreaterThan(0);
    expect(usage.listKeyUsage()).toHaveLength(1);
  });

  it("of one key does not affect the models of others", async () => {
    const { take, read } = setUp();
    await take(
      Array.from({ length: 900 }, (_, n) => used({ key: "flood", requested_model: `made-up-${n}` })),
    );
    await take([used({ key: "good", requested_model: "mine" })]);
    const good = read({ filters: { key: ["good"] }, groupBy: ["requested_model"] });
    expect(good.groups.map(({ dimensions }) => dimensions.requested_model)).toEqual(["mine"]);
  });

  it("that comes between two messages does not fill the isolate's memory", async () => {
    const { tally, usage, config } = setUp();
    const sizes: number[] = [];
    const store = {
      write: (message: UsageMessage) => {
        sizes.push(message.deltas.length);
        usage.write(message);
      },
    };
    for (let n = 0; n < 20_000; n += 1) tally.count(used({ requested_model: `a${n}`, model: `b${n}` }), NOON);
    await tally.send(store, config, NOON);
    expect(sizes[0]).toBeLessThan(2_100);
    expect(usage.read(everything).totals.requests).toBe(20_000);
  });
});

describe("a message of an isolate", () => {
  it("is repeated unchanged until it is acknowledged, while new counts wait", async () => {
    const { tally, usage, config, read } = setUp();
    const messages: UsageMessage[] = [];
    const deaf = {
      write: (message: UsageMessage) => {
        messages.push(structuredClone(message));
        usage.write(message);
        throw new Error("the answer was lost");
      },
    };
    tally.count(used(), NOON);
    await expect(tally.send(deaf, config, NOON)).rejects.toThrow();
    tally.count(used(), NOON);
    await expect(tally.send(deaf, config, NOON)).rejects.toThrow();
    expect(messages[1]).toEqual(messages[0]);
    expect(tally.isEmpty).toBe(false);
    await tally.send(usage, config, NOON);
    expect(tally.isEmpty).toBe(true);
    expect(read().totals.requests).toBe(2);
  });

  it("is not counted again if it is repeated much later", async () => {
    const { tally, usage, config, read, at } = setUp();
    const messages: UsageMessage[] = [];
    const store = {
      write: (message: UsageMessage) => {
        messages.push(structuredClone(message));
        usage.write(message);
      },
    };
    tally.count(used(), NOON);
    await tally.send(store, config, NOON);
    tally.count(used(), NOON);
    await tally.send(store, config, NOON);
    for (const message of messages) usage.write(message);
    for (const days of [1, 6, 8, 30, 400]) {
      at(NOON + days * DAY_MS);
      const other = new UsageTally();
      other.count(used({ key: "other" }), NOON + days * DAY_MS);
      await other.send(usage, config, NOON + days * DAY_MS);
      for (const message of messages) usage.write(message);
    }
    expect(read({ filters: { key: ["key_1"] } }).totals.requests).toBe(2);
  });

  it("is counted once and never lost, for any failures of network and object", async () => {
    const fault = fc.constantFrom(
      "none",
      "none",
      "before",
      "after",
      "evict-before",
      "evict-after",
      "twice",
      "late",
    );
    const request = fc.record({
      isolate: fc.nat({ max: 2 }),
      key: fc.constantFrom("a", "b", "c"),
      outcome: fc.constantFrom("success", "error", "cancelled", "refused"),
      tokens: fc.nat({ max: 10_000 }),
      fault,
      send: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(request, { maxLength: 60 }), async (requests) => {
        const world = setUp();
        const isolates = [new UsageTally(), new UsageTally(), new UsageTally()];
        const late: UsageMessage[] = [];
        const network = (kind: string) => ({
          write: (message: UsageMessage) => {
            if (kind === "before") throw new Error("lost");
            if (kind === "evict-before") world.evict();
            world.usage.write(structuredClone(message));
            if (kind === "twice") world.usage.write(structuredClone(message));
            if (kind === "late") late.push(structuredClone(message));
            if (kind === "evict-after") world.evict();
            if (kind === "after" || kind === "late" || kind === "evict-after") throw new Error("no answer");
          },
        });
        for (const { isolate, key, outcome, tokens, fault: kind, send } of requests) {
          const tally = isolates[isolate];
          tally?.count(used({ key, outcome, promptTokens: tokens }), NOON);
          if (send) await tally?.send(network(kind), world.config, NOON).catch(() => undefined);
          const delayed = kind === "none" ? late.shift() : undefined;
          if (delayed !== undefined) world.usage.write(delayed);
        }
        for (const tally of isolates) await tally.send(world.usage, world.config, NOON);
        for (const message of late) world.usage.write(message);
        const sum = (key: string, outcome: string) => {
          const found = requests.filter((one) => one.key === key && one.outcome === outcome);
          return [found.length, found.reduce((total, { tokens }) => total + tokens, 0)];
        };
        for (const key of ["a", "b", "c"]) {
          for (const outcome of ["success", "error", "cancelled", "refused"]) {
            const { totals } = world.read({ filters: { key: [key], outcome: [outcome] } });
            expect([totals.requests, totals.prompt_tokens]).toEqual(sum(key, outcome));
          }
        }
      }),
    );
  });
});

describe("sums of any size", () => {
  it("are finite, readable after a restart, and right to 12 digits", async () => {
    const tokens = fc.oneof(fc.nat(2_000_000), fc.constantFrom(1e12, 25_000_000));
    const price = fc.oneof(
      fc.double({ min: 0, max: Number.MAX_VALUE, noNaN: true }),
      fc.constantFrom(0, 375_000, 1e308),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(tokens, { minLength: 1, maxLength: 20 }), price, async (counts, input) => {
        const world = setUp({ flash: { input, output: 0 } });
        let cost = 0;
        let sum = 0;
        for (const promptTokens of counts) {
          await world.take([
            used({ promptTokens, cachedTokens: 0, completionTokens: 0, reasoningTokens: 0 }),
          ]);
          cost += Math.min(1e40, (promptTokens * input * 1e9) / 1e6);
          sum += promptTokens;
        }
        world.evict();
        const [key] = world.usage.listKeyUsage();
        for (const sums of [world.read().totals, world.read(by("key")).groups[0], key, key?.today]) {
          expect(sums?.prompt_tokens).toBe(sum);
          expect(Number.isFinite(sums?.cost_nano)).toBe(true);
          expect(Math.abs((sums?.cost_nano ?? 0) - cost)).toBeLessThanOrEqual(cost * 1e-12 + counts.length);
        }
        const activity = world.usage.readActivity({ from: NOON, to: NOON + HOUR_MS, step: 60_000 });
        expect(Number.isFinite(activity.totals.cost_nano)).toBe(true);
      }),
      { numRuns: 40 },
    );
  });
});

describe("a damaged row", () => {
  it.each([
    ["usage_day", "duration='{'"],
    ["usage_hour", "prompt_tokens='text'"],
    ["usage_key", "cost_nano=-1"],
    ["usage_day", "completion_tokens=9e999"],
    ["activity_minute", "first_token='['"],
    ["activity_quarter", "cost_nano=9e999"],
  ])("of %s (%s) is moved away, and counting continues", async (table, damage) => {
    const log = vi.spyOn(console, "error").mockReturnValue();
    const world = setUp();
    await world.take(
      [used({ key: "sound", outcome: "error" }), used({ key: "other", outcome: "error" })],
      NOON,
    );
    world.sql.all(`update ${table} set ${damage}`);
    await world.take([used({ key: "sound", outcome: "error" })], NOON);
    expect(world.read(by("key")).totals.requests).toBeGreaterThan(0);
    const activity = { from: TODAY, to: TODAY + DAY_MS, step: 900_000 };
    for (const points of [activity, { from: NOON, to: NOON + HOUR_MS, step: 60_000 }]) {
      expect(Number.isFinite(world.usage.readActivity(points).totals.cost_nano)).toBe(true);
    }
    expect(world.usage.listKeyUsage().every(({ cost_nano }) => cost_nano >= 0)).toBe(true);
    expect(world.read({ granularity: "hour" }).totals.requests).toBeGreaterThan(0);
    expect(world.sql.all("select distinct source from set_aside")).toEqual([{ source: table }]);
    expect(log).toHaveBeenCalled();
    log.mockRestore();
  });
});

describe("the tables of an older version", () => {
  const SUMS =
    "requests, prompt_tokens, cached_tokens, completion_tokens, reasoning_tokens, cost_nano, attempts, first_token_ms, duration_ms, queue_ms";
  const columns = SUMS.split(", ")
    .map((name) => `${name} integer not null`)
    .join(", ");
  const dimensions = "key, requested_model, model, provider, account, dialect, operation, outcome";

  /** The tables as that version made them, with one request of today. */
  function olderDatabase() {
    const sql = memoryDatabase();
    const texts = dimensions.split(", ").map((name) => `${name} text not null`);
    sql.all(
      `create table usage_dimension(id integer primary key, ${texts.join(", ")}, unique(${dimensions}))`,
    );
    const times = "first_token text not null, duration text not null, queue text not null";
    for (const table of ["usage_hour", "usage_day"]) {
      sql.all(
        `create table ${table}(at integer not null, dimension integer not null, ${columns}, ${times}, primary key(at, dimension)) without rowid`,
      );
    }
    sql.all(
      `create table usage_key(id integer primary key, key text unique not null, last_used integer not null, ${columns})`,
    );
    const counts =
      "requests integer not null, prompt_tokens integer not null, completion_tokens integer not null";
    for (const table of ["activity_minute", "activity_quarter"]) {
      sql.all(
        `create table ${table}(at integer not null, outcome text not null, status integer not null, code text not null, ${counts}, cost_nano integer not null, busy_ms integer not null, waited_ms integer not null, first_token text not null, duration text not null, primary key(at, outcome, status, code)) without rowid`,
      );
      sql.all(`insert into ${table} values(?, 'success', 200, '', 1, 10, 5, 7, 0, 0, '{}', '{}')`, NOON);
    }
    const { key, requested_model, model, provider, account, dialect, operation, outcome } = used();
    const values = [key, requested_model, model, provider, account, dialect, operation, outcome];
    sql.all(`insert into usage_dimension values(1, ?, ?, ?, ?, ?, ?, ?, ?)`, ...values);
    const sums = "1, 10, 4, 5, 2, 7, 1, 20, 100, 0";
    sql.all(`insert into usage_hour values(?, 1, ${sums}, '{}', '{}', '{}')`, NOON);
    sql.all(`insert into usage_day values(?, 1, ${sums}, '{}', '{}', '{}')`, TODAY);
    sql.all(`insert into usage_key values(1, ?, ?, ${sums})`, key, NOON);
    return sql;
  }

  it("are read and continued", async () => {
    const { take, read, usage, evict } = setUp({}, olderDatabase());
    const before = {
      requests: 1,
      prompt_tokens: 10,
      cached_tokens: 4,
      cache_write_1h_tokens: 0,
      cost_nano: 7,
    };
    expect(read().totals).toMatchObject(before);
    expect(usage.listKeyUsage()).toMatchObject([{ ...before, today: before }]);
    await take([used({ cacheWrite1hTokens: 3 })]);
    const after = {
      requests: 2,
      prompt_tokens: 20,
      cached_tokens: 8,
      cache_write_1h_tokens: 3,
      cost_nano: 7,
    };
    evict();
    expect(read().totals).toMatchObject(after);
    expect(usage.listKeyUsage()).toMatchObject([{ ...after, today: after }]);
    const query = { from: NOON, to: NOON + HOUR_MS, step: 60_000 };
    expect(usage.readActivity(query).totals).toMatchObject({
      requests: 2,
      prompt_tokens: 20,
      cached_tokens: 4,
    });
  });

  it("accept messages of its isolates, which count less", async () => {
    const { tally, usage, config, read } = setUp();
    const olderIsolate = {
      write: (message: UsageMessage) => {
        const sent: UsageMessage = structuredClone(message);
        for (const delta of [...sent.deltas, ...(sent.activity ?? [])]) {
          for (const name of ["cache_write_1h_tokens", "web_searches"]) Reflect.deleteProperty(delta, name);
        }
        for (const delta of sent.activity ?? []) Reflect.deleteProperty(delta, "cached_tokens");
        usage.write(sent);
      },
    };
    tally.count(used(), NOON);
    await tally.send(olderIsolate, config, NOON);
    expect(read().totals).toMatchObject({ requests: 1, prompt_tokens: 10, web_searches: 0 });
  });

  it("have notes of requests with fewer counts", async () => {
    const { sql, usage, config, read } = setUp();
    const older: Partial<RequestUsage> = used();
    for (const name of ["cacheWrite1hTokens", "webSearches"]) Reflect.deleteProperty(older, name);
    sql.all("insert into usage_note values(1, ?)", JSON.stringify({ ...older, at: NOON }));
    await usage.countNotes(config);
    expect(read().totals).toMatchObject({ requests: 1, prompt_tokens: 10, web_searches: 0 });
  });
});
