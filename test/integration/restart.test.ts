import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { LEASE_TTL_MS } from "../../src/pool/leases/lease-timing.ts";
import { FaultUpstream } from "../support/fault-upstream.ts";
import { startGateway } from "../support/gateway.ts";
import { until } from "../support/until.ts";

const STREAMS = 200;
const ACCOUNTS = 120;
const PER_ACCOUNT = 2;
const WORDS = 12;

it(`answers soon after the pool was lost under ${STREAMS} live streams, and grants no slot twice`, async () => {
  let goOn = (): void => undefined;
  const answered = new Promise<void>((resolve) => (goOn = resolve));
  const upstream = await FaultUpstream.start({
    text: "word ".repeat(WORDS).trim(),
    eventEvery: 500,
    hold: { at: WORDS - 3, until: answered },
  });
  const gateway = await startGateway({
    evictable: true,
    vars: {
      PROVIDER_DRIVER: "openai",
      PROVIDER_BASE_URL: `${upstream.url}/v1`,
      GATEWAY_CONFIG_JSON: JSON.stringify({
        keys: ["sk-dev"],
        accounts: Array.from({ length: ACCOUNTS }, (_, n) => ({ token: `backend-key-${n}` })),
        runtime: { account_max_inflight: PER_ACCOUNT },
      }),
    },
  });
  const chat = (stream: boolean) =>
    gateway.fetch("/v1/chat/completions", {
      method: "POST",
      headers: { authorization: "Bearer sk-dev", "content-type": "application/json" },
      body: JSON.stringify({ model: "gpt-4o", stream, messages: [{ role: "user", content: "hello" }] }),
    });
  const queue = async () => {
    const answer = await gateway.fetch("/admin/queue/status", { headers: { authorization: "Bearer admin" } });
    const status: { in_use: number; waiting: number; available: number } = await answer.json();
    return status;
  };
  try {
    const streams = Array.from({ length: STREAMS }, async () => (await chat(true)).text());
    await until(queue, ({ in_use }) => in_use === STREAMS);
    await sleep(700);
    await gateway.evictPool();
    const from = performance.now();
    upstream.queue({ text: "first" });
    const first = await chat(false);
    expect([first.status, await first.text()]).toEqual([200, expect.stringContaining("first")]);
    // Nobody waited until leases expired: all slots are in use or known to be free again.
    expect(performance.now() - from).toBeLessThan(LEASE_TTL_MS);
    expect((await queue()).in_use).toBe(STREAMS);
    goOn();

    const ended = await Promise.all(streams);
    const whole = ended.filter(
      (text) => /\[DONE\]\s*$/.test(text) && text.split("word").length - 1 === WORDS,
    );
    expect(whole).toHaveLength(STREAMS);
    expect(mostOpenAtOnce(upstream)).toBeLessThanOrEqual(PER_ACCOUNT);
    await until(queue, ({ in_use }) => in_use === 0);
  } finally {
    await gateway.close();
    await upstream.close();
  }
}, 60_000);

/**
 * The most generations that one account had open at one moment, from their beginnings to the ends that the upstream saw. An end is
 * seen a little late, which does no harm where there are more slots than streams.
 */
function mostOpenAtOnce(upstream: FaultUpstream): number {
  const events = upstream.generations.flatMap(({ headers, receivedAt, closedAt }) => [
    { account: headers.authorization ?? "", at: receivedAt, change: 1 },
    { account: headers.authorization ?? "", at: closedAt ?? Number.POSITIVE_INFINITY, change: -1 },
  ]);
  events.sort((one, other) => one.at - other.at || one.change - other.change);
  const open = new Map<string, number>();
  let most = 0;
  for (const { account, change } of events) {
    const now = (open.get(account) ?? 0) + change;
    open.set(account, now);
    most = Math.max(most, now);
  }
  return most;
}
