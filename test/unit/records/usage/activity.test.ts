import { expect, it } from "vitest";
import type { RequestUsage, UsageMessage } from "../../../../src/core/ports/usage.ts";
import { QUARTER_MS } from "../../../../src/records/usage/sql-activity.ts";
import { SqlUsage } from "../../../../src/records/usage/sql-usage.ts";
import { UsageTally } from "../../../../src/records/usage/usage-tally.ts";
import { emptyConfig } from "../../../support/config.ts";
import { memoryDatabase } from "../archive/sqlite.ts";
import { used } from "./support.ts";

const NOON = Date.UTC(2026, 10, 22, 12);
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

function setUp() {
  const sql = memoryDatabase();
  let time = NOON;
  const usage = new SqlUsage(sql, () => time);
  const tally = new UsageTally();
  const messages: UsageMessage[] = [];
  const config = { config: { ...emptyConfig(), prices: { flash: { input: 1, output: 2 } } } };
  return {
    usage,
    messages,
    /** The requests end at `now`. */
    take: async (now: number, ...requests: readonly Partial<RequestUsage>[]) => {
      time = now;
      for (const request of requests) tally.count(used(request), now);
      const write = (message: UsageMessage) => {
        messages.push(message);
        usage.write(message);
      };
      await tally.send({ write }, config, now);
    },
    read: (from: number, to: number, step: number) => usage.readActivity({ from, to, step }),
    rows: (table: string) => sql.all(`select count(*) as n from activity_${table}`)[0]?.["n"],
  };
}

it("shows outcomes, usage and durations by the minute", async () => {
  const { take, read } = setUp();
  await take(NOON + 1_000, {}, { durationMs: 1_000, firstTokenMs: 500 });
  await take(
    NOON + 2 * MINUTE,
    { outcome: "error", status: 503, code: "upstream_error", firstTokenMs: undefined },
    { outcome: "refused", status: 429, code: "concurrency_limit_exceeded" },
    { outcome: "cancelled", status: 499, code: "request_cancelled" },
  );
  const { points, totals, errors } = read(NOON, NOON + 15 * MINUTE, MINUTE);
  expect(points).toMatchObject([
    { at: NOON, requests: 2, succeeded: 2, failed: 0, prompt_tokens: 20, completion_tokens: 10 },
    { at: NOON + MINUTE, requests: 0 },
    { at: NOON + 2 * MINUTE, requests: 3, succeeded: 0, failed: 1, refused: 1, cancelled: 1 },
  ]);
  expect(points[0]?.cost_nano).toBe(20 * 1_000 + 10 * 2_000);
  expect(points[0]?.first_token?.p99).toBeGreaterThan(470);
  expect(points[0]?.first_token?.p50).toBeLessThan(22);
  expect(totals).toMatchObject({ at: NOON, requests: 5, succeeded: 2 });
  expect(errors).toEqual([
    { outcome: "error", status: 503, code: "upstream_error", requests: 1 },
    { outcome: "refused", status: 429, code: "concurrency_limit_exceeded", requests: 1 },
  ]);
});

it("counts slots and waiting at their time, not at the end of the request", async () => {
  const { take, read } = setUp();
  // Waited from 0:30 to 1:00, and held a slot until 2:30.
  await take(NOON + 2.5 * MINUTE, { durationMs: 2 * MINUTE, queueMs: MINUTE / 2 });
  // Has no slot: its token is the caller's own.
  await take(NOON + 2.6 * MINUTE, { durationMs: MINUTE, account: "" });
  const { points } = read(NOON, NOON + 15 * MINUTE, MINUTE);
  expect(points.map(({ waited_ms, busy_ms }) => [waited_ms, busy_ms])).toEqual([
    [MINUTE / 2, 0],
    [0, MINUTE],
    [0, MINUTE / 2],
  ]);
});

it("counts a message once, and accepts those of an older version", async () => {
  const { take, read, usage, messages } = setUp();
  await take(NOON, {});
  const [message] = messages;
  if (message === undefined) throw new Error("nothing was sent");
  usage.write(message);
  const { activity: _, ...older } = message;
  usage.write({ ...older, sender: "older" });
  expect(read(NOON, NOON + HOUR, MINUTE).totals.requests).toBe(1);
});

it("keeps hours by minutes and days by quarters of an hour", async () => {
  const { take, read, rows } = setUp();
  for (let hour = 0; hour < 10; hour += 1) await take(NOON + hour * HOUR, {});
  expect(rows("minute")).toBeLessThan(20);
  const end = NOON + 9 * HOUR + QUARTER_MS;
  expect(read(end - 24 * HOUR, end, QUARTER_MS).totals.requests).toBe(10);
  await take(NOON + 20 * 24 * HOUR, {});
  expect(rows("minute")).toBe(2);
  expect(rows("quarter")).toBe(2);
});

it("adds minutes up to longer steps", async () => {
  const { take, read } = setUp();
  await take(NOON + MINUTE, {});
  await take(NOON + 4 * MINUTE, {}, {});
  await take(NOON + 6 * MINUTE, {});
  const { points } = read(NOON, NOON + 6 * HOUR, 5 * MINUTE);
  expect(points.map(({ at, requests }) => [(at - NOON) / MINUTE, requests])).toEqual([
    [0, 3],
    [5, 1],
  ]);
});
