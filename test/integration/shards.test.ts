import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { FaultUpstream } from "../support/fault-upstream.ts";
import { type Gateway, startGateway } from "../support/gateway.ts";
import { until } from "../support/until.ts";

const ACCOUNTS = 10;
const PER_ACCOUNT = 2;
const GLOBAL = 12;
const CLIENTS = 16;
const WORDS = 4;
/** How long the upstream takes to begin, milliseconds: for so long a slot is in use at least. */
const SILENCE_MS = 300;
/** Answers between two changes of the number of pools. */
const BETWEEN = 25;

describe("four pools", () => {
  let upstream: FaultUpstream;
  let gateway: Gateway;

  beforeAll(async () => {
    upstream = await FaultUpstream.start({ text: "word ".repeat(WORDS).trim(), headersAfter: SILENCE_MS });
    gateway = await startGateway({
      evictable: true,
      vars: {
        POOL_SHARDS: "4",
        PROVIDER_DRIVER: "openai",
        PROVIDER_BASE_URL: `${upstream.url}/v1`,
        GATEWAY_CONFIG_WRITEBACK: "true",
        GATEWAY_CONFIG_JSON: JSON.stringify({
          keys: ["sk-dev"],
          api_keys: [{ key: "sk-limited", limits: { requests_per_minute: 5 } }],
          accounts: Array.from({ length: ACCOUNTS }, (_, n) => ({ token: `backend-key-${n}` })),
          runtime: { account_max_inflight: PER_ACCOUNT, global_max_inflight: GLOBAL },
        }),
      },
    });
  });
  afterAll(async () => {
    await gateway.close();
    await upstream.close();
  });

  const chat = (key = "sk-dev", stream = true) =>
    gateway.fetch("/v1/chat/completions", {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "gpt-4o", stream, messages: [{ role: "user", content: "hello" }] }),
    });
  const queue = async () => {
    const answer = await gateway.fetch("/admin/queue/status", { headers: { authorization: "Bearer admin" } });
    const status: {
      available: number;
      in_use: number;
      waiting: number;
      total: number;
      global_max_inflight: number;
    } = await answer.json();
    return status;
  };

  it("state all accounts as available from the first answer on", async () => {
    // Nothing has been asked before: the pools hear from each other while this waits.
    expect(await queue()).toMatchObject({
      available: ACCOUNTS,
      ready: ACCOUNTS,
      total: ACCOUNTS,
      partial: false,
    });
    await gateway.restart();
    expect(await queue()).toMatchObject({ available: ACCOUNTS, total: ACCOUNTS });
  }, 60_000);

  it("become two, three, one and four again under live streams: all answers are whole, no limit is passed", async () => {
    let answers = 0;
    let isOver = false;
    const broken: string[] = [];
    const client = async () => {
      while (!isOver) {
        const answer = await chat();
        const text = await answer.text();
        answers += 1;
        const isWhole = /\[DONE\]\s*$/.test(text) && text.split("word").length - 1 === WORDS;
        if (answer.status !== 200 || !isWhole) broken.push(`${answer.status} ${text}`);
      }
    };
    const clients = Array.from({ length: CLIENTS }, client);
    for (const count of [2, 3, 1, 4]) {
      const from = answers;
      await until(
        async () => answers,
        (now) => now >= from + BETWEEN,
        60_000,
      );
      await gateway.resizePools(count);
    }
    const from = answers;
    await until(
      async () => answers,
      (now) => now >= from + BETWEEN,
      60_000,
    );
    isOver = true;
    await Promise.all(clients);
    expect(broken).toEqual([]);
    expect(mostSurelyAtOnce(upstream, ({ headers }) => headers.authorization ?? "")).toBeLessThanOrEqual(
      PER_ACCOUNT,
    );
    expect(mostSurelyAtOnce(upstream, () => "all")).toBeLessThanOrEqual(GLOBAL);
    await until(queue, ({ in_use, waiting }) => in_use === 0 && waiting === 0);
    // Every account belongs to a shard.
    await until(queue, ({ total }) => total === ACCOUNTS);
    expect(await queue()).toMatchObject({ total: ACCOUNTS, global_max_inflight: GLOBAL });
  }, 120_000);

  it("let in as many requests of a key with a limit as one pool does", async () => {
    const answers = await Promise.all(Array.from({ length: 12 }, () => chat("sk-limited", false)));
    await Promise.all(answers.map((answer) => answer.text()));
    expect(answers.map(({ status }) => status).sort()).toEqual([
      ...Array.from({ length: 5 }, () => 200),
      ...Array.from({ length: 7 }, () => 429),
    ]);
  });
});

/**
 * The most generations of one name that were certainly in progress at one moment. It does not use their ends: the upstream sees
 * them late, and the pool grants a released slot at once while requests wait.
 */
function mostSurelyAtOnce(
  { generations }: FaultUpstream,
  nameOf: (generation: FaultUpstream["generations"][number]) => string,
): number {
  const begun = new Map<string, number[]>();
  let most = 0;
  for (const generation of generations) {
    const name = nameOf(generation);
    // Timers may be a little early.
    const open = (begun.get(name) ?? []).filter((at) => generation.receivedAt - at < SILENCE_MS - 5);
    open.push(generation.receivedAt);
    begun.set(name, open);
    most = Math.max(most, open.length);
  }
  return most;
}
