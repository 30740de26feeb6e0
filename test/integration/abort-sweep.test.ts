import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { FaultUpstream } from "../support/fault-upstream.ts";
import { type Gateway, startGateway } from "../support/gateway.ts";
import { ON_DENO } from "../support/runtime.ts";

const KEEP_ALIVE_MS = 300;

/** A small generator of pseudo-random numbers, so that a failing sweep can be run again. */
function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

async function inUse(gateway: Gateway): Promise<number> {
  const status = await gateway.fetch("/admin/queue/status", { headers: { authorization: "Bearer admin" } });
  const body: { in_use: number } = await status.json();
  return body.in_use;
}

/** What has leaked never comes back; anything else comes within a keep-alive period or two, however busy the machine is. */
const PATIENCE_MS = 10_000;

async function until(condition: () => boolean | Promise<boolean>): Promise<boolean> {
  const end = Date.now() + PATIENCE_MS;
  while (Date.now() < end) {
    if (await condition()) return true;
    await sleep(10);
  }
  return condition();
}

const config = (accounts: unknown[]) =>
  JSON.stringify({ keys: ["sk-dev"], accounts, runtime: { account_max_inflight: 1, account_max_queue: 50 } });

/** How often a client leaves: what follows the departure is the same code behind every driver. */
const DRIVERS = [
  ["sessions", "", [{ email: "one@sandbox.test", password: "sandbox" }], 250],
  ["openai", "/v1", [{ token: "backend-key" }], 100],
  ["anthropic", "", [{ token: "backend-key" }], 100],
] as const;
/** How a runtime reports that a client has left does not depend on the driver. */
const drivers = DRIVERS.filter(([driver]) => !(ON_DENO && driver === "anthropic"));

describe.each(drivers)(
  "clients that leave, driver %s, a pool of one slot",
  (driver, path, accounts, times) => {
    it(`${times} disconnects at random points leak no slot, close the upstream and never block the next request`, async () => {
      const seed = Number(process.env["SEED"] ?? 20_261_120);
      const random = randomFrom(seed);
      const upstream = await FaultUpstream.start({ text: "word ".repeat(40), eventEvery: 2 });
      const gateway = await startGateway({
        vars: {
          PROVIDER_DRIVER: driver,
          PROVIDER_BASE_URL: upstream.url + path,
          GATEWAY_CONFIG_JSON: config([...accounts]),
          KEEP_ALIVE_MS: String(KEEP_ALIVE_MS),
          QUEUE_TIMEOUT_MS: "20000",
        },
      });
      const send = (signal?: AbortSignal, stream = true) =>
        gateway.fetch("/v1/chat/completions", {
          method: "POST",
          headers: { authorization: "Bearer sk-dev", "content-type": "application/json" },
          body: JSON.stringify({ model: "gpt-4o", stream, messages: [{ role: "user", content: "hello" }] }),
          ...(signal === undefined ? {} : { signal }),
        });
      try {
        for (let n = 0; n < times; n += 1) {
          const abort = new AbortController();
          const leaving = (async () => {
            await sleep(random() * 90);
            abort.abort();
          })();
          try {
            const response = await send(abort.signal);
            expect([n, response.status]).toEqual([n, 200]);
            await response.text();
          } catch (error) {
            if (!abort.signal.aborted) throw error;
          }
          await leaving;
        }
        const free = await until(async () => (await inUse(gateway)) === 0);
        expect(free, `a slot is still held (seed ${seed})`).toBe(true);
        expect(await until(() => upstream.open === 0), "an upstream is still open").toBe(true);
        const next = await send(undefined, false);
        expect(next.status).toBe(200);
        await next.text();
      } finally {
        await gateway.close();
        await upstream.close();
      }
    }, 120_000);

    it("a client that leaves while the upstream is silent frees its slot when a keep-alive is due", async () => {
      const upstream = await FaultUpstream.start({ text: "a b c d e f", stallAfter: 3 });
      const gateway = await startGateway({
        vars: {
          PROVIDER_DRIVER: driver,
          PROVIDER_BASE_URL: upstream.url + path,
          GATEWAY_CONFIG_JSON: config([...accounts]),
          KEEP_ALIVE_MS: String(KEEP_ALIVE_MS),
        },
      });
      try {
        const abort = new AbortController();
        const response = await gateway.fetch("/v1/chat/completions", {
          method: "POST",
          headers: { authorization: "Bearer sk-dev", "content-type": "application/json" },
          body: JSON.stringify({
            model: "gpt-4o",
            stream: true,
            messages: [{ role: "user", content: "hello" }],
          }),
          signal: abort.signal,
        });
        const reader = response.body?.getReader();
        await reader?.read();
        expect(await inUse(gateway)).toBe(1);
        abort.abort();
        expect(await until(async () => (await inUse(gateway)) === 0)).toBe(true);
        expect(await until(() => upstream.open === 0)).toBe(true);
      } finally {
        await gateway.close();
        await upstream.close();
      }
    });
  },
);
