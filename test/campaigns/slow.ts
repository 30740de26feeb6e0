// `npm run slow [-- deno|workers] [share]`: measures the effect of thousands of idle or slow clients on other clients.
// Everything is local and ends by itself. `share` (default 1) scales the numbers of clients, for machines with few file descriptors.
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { Gateway } from "../support/gateway.ts";
import { type SlowClientCounts, SlowClients, type Times, timesOf } from "../support/slow-clients.ts";

const [wanted = "all", shareText = "1"] = process.argv.slice(2);
const share = Number(shareText);
const REQUESTS = 200;
/** Wait before timing other clients: long enough for deadlines to close the first connections. */
const SETTLE_MS = 5_000;
/** Longer than the sockets' buffers. */
const ANSWER_CHARS = 400_000;

const CLIENT_COUNTS: readonly (readonly [name: string, clients: SlowClientCounts])[] = [
  ["5,000 idle connections", { idle: 5_000, neverReading: 0, trickling: 0 }],
  ["2,000 that never read", { idle: 0, neverReading: 2_000, trickling: 0 }],
  ["500 that send one byte a second", { idle: 0, neverReading: 0, trickling: 500 }],
];

const START: Readonly<Record<string, () => Promise<Gateway>>> = {
  deno: async () => (await import("../support/deno.ts")).DenoGateway.start(),
  workers: async () => (await import("../support/miniflare.ts")).startMiniflare(),
};

/** Memory in MB of the gateway's processes: the Deno or workerd descendants of this process. */
function memory(): number {
  const parents = new Map<number, number>();
  const sizes = new Map<number, number>();
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const status = readFileSync(`/proc/${name}/status`, "utf8");
      if (!/^Name:\s+(?:deno|workerd)/m.test(status)) continue;
      parents.set(Number(name), Number(/^PPid:\s+(\d+)/m.exec(status)?.[1]));
      sizes.set(Number(name), Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1] ?? 0));
    } catch {
      // The process has ended meanwhile.
    }
  }
  const ours = (pid: number): boolean => {
    const parent = parents.get(pid);
    return parent === process.pid || (parent !== undefined && parents.has(parent) && ours(parent));
  };
  let size = 0;
  for (const [pid, own] of sizes) if (ours(pid)) size += own;
  return Math.round(size / 1024);
}

const shown = ({ median, p95 }: Times) => `${median.toFixed(1)} / ${p95.toFixed(1)} ms`;

async function measure(runtime: string, start: () => Promise<Gateway>): Promise<void> {
  const gateway = await start();
  const chat = async () => {
    const response = await gateway.fetch("/v1/chat/completions", {
      method: "POST",
      headers: { "content-type": "application/json", authorization: "Bearer sk-dev" },
      body: JSON.stringify({
        model: "provider-v4-flash-nothinking",
        messages: [{ role: "user", content: "[[say:hi]]" }],
      }),
    });
    const said = await response.text();
    if (response.status !== 200)
      throw new Error(`a request beside slow clients was answered ${response.status}: ${said}`);
  };
  try {
    await timesOf(REQUESTS, chat);
    const alone = await timesOf(REQUESTS, chat);
    console.log(`${runtime}: alone ${shown(alone)}, ${memory()} MB`);
    for (const [name, { idle, neverReading, trickling }] of CLIENT_COUNTS) {
      const slowClients = new SlowClients(gateway.url);
      const scaled = (count: number) => Math.round(count * share);
      await slowClients.add(
        { idle: scaled(idle), neverReading: scaled(neverReading), trickling: scaled(trickling) },
        ANSWER_CHARS,
      );
      await sleep(SETTLE_MS);
      const beside = await timesOf(REQUESTS, chat);
      const size = memory();
      const ended = slowClients.ended;
      await slowClients.end();
      await sleep(2_000);
      const from = performance.now();
      await (await gateway.fetch("/healthz")).text();
      const health = performance.now() - from;
      const factor = beside.median / alone.median;
      console.log(
        `${runtime}: beside ${name} ${shown(beside)} (${factor.toFixed(2)} ×), ${size} MB, ` +
          `${ended} of ${slowClients.size} ended by the gateway; /healthz after it ${health.toFixed(1)} ms`,
      );
      if (factor > 2) process.exitCode = 1;
    }
  } finally {
    await gateway.close();
  }
}

for (const [runtime, start] of Object.entries(START)) {
  if (wanted === "all" || wanted === runtime) await measure(runtime, start);
}
process.exit();
