import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ChatBackend, startChatBackend } from "../support/chat-backend.ts";
import { until } from "../support/until.ts";
import { useAdmin } from "../support/use-admin.ts";

const KEY = "sk-of-a-key-with-limits";
const LIMITS = { tokens_per_day: 1_000_000_000, cost_per_month: 1_000_000_000_000, max_parallel: 100 };
/** Dong for a million tokens: in billionths, 25 million tokens pass 2^53. */
const DONG = 375_000;

/** What an upstream may state instead of a count, as JSON texts. */
const STATED = [
  "9007199254740992",
  "9007199254740993",
  "1e30",
  "1.7e308",
  "2e308",
  "-5",
  "2.5",
  '"12"',
  "null",
];

const DONG_MODEL = "dong";
const models = [...STATED.map((_, index) => `m${index}`), DONG_MODEL];

const { admin, chat, gateway } = lazily(useAdmin({ secrets: [KEY] }));
let backend: ChatBackend;

/** The gateway's tools, of which only `gateway` must not be read before the tests run. */
function lazily(running: ReturnType<typeof useAdmin>) {
  return { admin: running.admin, chat: running.chat, gateway: () => running.gateway };
}

function usageOf(model: string): string {
  if (model === DONG_MODEL) {
    return JSON.stringify({ prompt_tokens: 20_000_000, completion_tokens: 10_000_000 });
  }
  const count = STATED[Number(model.slice(1))];
  const details = `"prompt_tokens_details":{"cached_tokens":${count}},"completion_tokens_details":{"reasoning_tokens":${count}}`;
  return `{"prompt_tokens":${count},"completion_tokens":${count},"total_tokens":${count},${details}}`;
}

beforeAll(async () => {
  backend = await startChatBackend({ models, says: "Four words it says.", usageOf });
  const provider = {
    id: "odd",
    driver: "openai",
    native: false,
    base_url: backend.url,
    token: "sk-backend-0123456789",
    models: {},
  };
  expect((await admin("POST", "/admin/providers", provider)).status).toBe(200);
  const prices = Object.fromEntries(models.map((model) => [`odd/${model}`, { input: DONG, output: DONG }]));
  expect((await admin("PUT", "/admin/settings", { prices })).status).toBe(200);
  expect((await admin("POST", "/admin/keys", { key: KEY, limits: LIMITS })).status).toBe(200);
});
afterAll(() => backend?.close());

const headers = { authorization: `Bearer ${KEY}` };

/** Every number in a JSON value, by its path. Also null, because JSON writes an infinite number as null. */
function numbersIn(value: unknown, path = ""): [string, unknown][] {
  if (typeof value === "number") return [[path, value]];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) => numbersIn(member, `${path}.${name}`));
}

const SUMS = [
  "requests",
  "prompt_tokens",
  "cached_tokens",
  "completion_tokens",
  "reasoning_tokens",
  "total_tokens",
  "cost",
];

async function totals(): Promise<Record<string, number>> {
  const { status, body } = await admin("GET", "/admin/usage?granularity=total&group_by=key");
  expect(status).toBe(200);
  for (const [path, value] of numbersIn(body)) expect([path, Number(value) >= 0]).toEqual([path, true]);
  return Object(body["totals"]);
}

async function keyUse(): Promise<Record<string, unknown>> {
  const { status, body } = await admin("GET", "/admin/keys");
  expect(status).toBe(200);
  for (const [path, value] of numbersIn(body)) expect([path, Number(value) >= 0]).toEqual([path, true]);
  const key = Object(body["items"]).find(({ limits }: { limits?: object }) => limits !== undefined);
  return Object(key);
}

describe("a provider that states numbers which no answer can have", () => {
  for (const [index, count] of STATED.entries()) {
    for (const stream of [false, true]) {
      it(`gets a local estimate counted instead of ${count} (${stream ? "streamed" : "whole"})`, async () => {
        const options = stream ? { stream, stream_options: { include_usage: true } } : {};
        const response = await chat("Hi there.", { model: `odd/m${index}`, ...options }, headers);
        const text = await response.text();
        expect(response.status, text).toBe(200);
        const usage = Object(JSON.parse(stream ? lastUsage(text) : text)["usage"]);
        for (const name of ["prompt_tokens", "completion_tokens", "total_tokens"]) {
          expect([name, usage[name] > 0 && usage[name] < 1_000]).toEqual([name, true]);
        }
        expect(usage.total_tokens).toBe(usage.prompt_tokens + usage.completion_tokens);
      });
    }
  }

  it("leaves usage readable, also after a crash", async () => {
    const requests = 2 * STATED.length;
    await until(totals, (sums) => sums["requests"] === requests);
    for (let round = 0; round < 2; round += 1) {
      const sums = await totals();
      for (const name of SUMS) expect([name, Number.isFinite(sums[name])]).toEqual([name, true]);
      expect(sums["total_tokens"]).toBeLessThan(100_000);
      const { used_today: today } = await keyUse();
      for (const value of Object.values(Object(today))) expect(value).toEqual(expect.any(Number));
      expect((await chat("again", { model: "odd/m0" }, headers)).status).toBe(200);
      if (round === 0) await gateway().restart();
    }
  });

  it("is reported in the log", async () => {
    const lines = async () =>
      gateway()
        .logs()
        .filter((line) => line.includes('"model":"odd/m0"'));
    await until(lines, (found) => found.some((line) => line.includes('"usage_refused":true')));
  });
});

describe("a price in a currency of small units", () => {
  it("is summed up beyond 2^53 billionths, also after a crash", async () => {
    const before = (await totals())["cost"] ?? 0;
    for (let round = 1; round <= 4; round += 1) {
      expect((await chat("much", { model: `odd/${DONG_MODEL}` }, headers)).status).toBe(200);
    }
    const cost = 4 * 30 * DONG;
    const sums = await until(totals, (now) => (now["cost"] ?? 0) - before >= 0.99 * cost);
    expect(Math.round((sums["cost"] ?? 0) - before)).toBeGreaterThanOrEqual(cost);
    await gateway().restart();
    expect(Math.round(((await totals())["cost"] ?? 0) - before)).toBeGreaterThanOrEqual(cost);
    expect((await chat("again", { model: "odd/m0" }, headers)).status).toBe(200);
    expect(await keyUse()).toMatchObject({ used_today: { cost: expect.any(Number) } });
  });
});

/** The last event of a stream that states usage. */
function lastUsage(stream: string): string {
  const events = stream.split("\n").flatMap((line) => /^data: (\{.*"usage":\{.*)$/.exec(line)?.[1] ?? []);
  return events.at(-1) ?? "{}";
}
