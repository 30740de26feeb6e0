// Measures the cost of acquiring and releasing a slot with 10 to 100,000 accounts: of the rules alone, and over RPC to the
// Durable Object on workerd. `node bench/pool.mjs`
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";
import { bundle } from "./bundle.mjs";
import { median } from "./figures.mjs";
import { children, cpuMs } from "./gateway/process.mjs";

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const SIZES = [10, 1_000, 10_000, 100_000];
const ROUNDS = 9;

/** @param {number} count */
function configuration(count) {
  const accounts = Array.from({ length: count }, (_, i) => ({
    id: `account-${i}@example.com`,
    email: `account-${i}@example.com`,
    mobile: "",
    password: "p",
    token: "t",
    proxyId: "",
  }));
  const limits = { perAccount: 2, global: 0, queue: 0, queueWaitMs: 60_000, tokenRefreshMs: 0 };
  return { accounts, limits };
}

/** Bundles a module that imports project files. */
const bundled = (contents) => bundle({ stdin: { contents, resolveDir: ROOT, loader: "ts" } });

/** Releases and acquires slots `times` times, with eight in use throughout. Returns nanoseconds of each. */
function rulesOf({ AccountPool, MemoryPoolStore }, count) {
  const pool = new AccountPool({
    store: new MemoryPoolStore(),
    now: Date.now,
    setTimer: () => () => {},
    wakeAt: () => {},
  });
  pool.configure(configuration(count));
  const request = { requestId: "r", model: "m" };
  const held = Array.from({ length: 8 }, () => pool.acquire(request).granted.lease);
  return (times) => {
    const start = process.hrtime.bigint();
    for (let i = 0; i < times; i += 1) {
      pool.release(held[i & 7]);
      held[i & 7] = pool.acquire(request).granted.lease;
    }
    return Number(process.hrtime.bigint() - start) / times;
  };
}

/** Random order: in a fixed order the garbage collector would always hit the same subject. */
const shuffled = (items) =>
  items
    .map((item) => ({ item, place: Math.random() }))
    .sort((a, b) => a.place - b.place)
    .map(({ item }) => item);

const WORKER = `
import { DurableObject } from "cloudflare:workers";
import { cloudflareAccounts } from "./src/runtime/cloudflare/accounts.ts";
import { median } from "./figures.mjs";
export { AccountPool } from "./durable-objects/account-pool.ts";
export class Configuration extends DurableObject {}
export default {
  async fetch(request, env) {
    const pool = cloudflareAccounts(env);
    if (request.method === "POST") {
      await pool.configure(await request.json());
      return new Response();
    }
    const { searchParams } = new URL(request.url);
    const atOnce = Number(searchParams.get("atOnce"));
    const turn = async () => {
      const acquired = await pool.acquire({ requestId: "r", model: "m" });
      acquired.lease.release();
    };
    for (let left = Number(searchParams.get("times")); left > 0; left -= atOnce)
      await Promise.all(Array.from({ length: atOnce }, turn));
    return new Response();
  },
};`;

/** Starts a pool object with `count` accounts. Each account has been leased once, because later grants write nothing. */
async function objectOf(count) {
  const storage = await mkdtemp(join(tmpdir(), "pool-"));
  const known = new Set(children());
  const miniflare = new Miniflare(
    convertV4MiniflareOptions({
      cf: false,
      resourcePersistencePath: storage,
      modules: [{ type: "ESModule", path: "worker.mjs", contents: await bundled(WORKER) }],
      compatibilityDate: "2026-09-01",
      compatibilityFlags: ["nodejs_compat", "enable_request_signal"],
      durableObjects: {
        ACCOUNT_POOL: { className: "AccountPool", useSQLite: true },
        CONFIGURATION: { className: "Configuration", useSQLite: true },
      },
    }),
  );
  const url = await miniflare.ready;
  const workerd = children().filter((pid) => !known.has(pid));
  const cpu = () => workerd.reduce((sum, pid) => sum + cpuMs(pid), 0);
  const asked = async (...request) => {
    const response = await fetch(...request);
    if (!response.ok) throw new Error(await response.text());
  };
  await asked(url, { method: "POST", body: JSON.stringify(configuration(count)) });
  const turn = (times, atOnce = 1) => asked(new URL(`?times=${times}&atOnce=${atOnce}`, url));
  await turn(count + 1_000, 10);
  // workerd evicts an idle object after ten seconds, and this one could not read its configuration again.
  const asking = setInterval(() => turn(1).catch(() => undefined), 3_000);
  return {
    async measure(times) {
      const used = cpu();
      const start = performance.now();
      await turn(times);
      return { wall: (performance.now() - start) / times, cpu: (cpu() - used) / times };
    },
    /** Stops the keep-alive requests, because the measurement sends enough. */
    begins: () => clearInterval(asking),
    async close() {
      clearInterval(asking);
      await miniflare.dispose();
      await rm(storage, { recursive: true, force: true });
    },
  };
}

/** Rows for all sizes: nanoseconds of the rules, wall-clock and CPU milliseconds over RPC. */
export async function run({ quick = false } = {}) {
  const source = await bundled(
    'export { AccountPool } from "./src/pool/pool.ts"; export { MemoryPoolStore } from "./test/support/pool-simulator/memory-pool-store.ts";',
  );
  const rules = await import(`data:text/javascript;base64,${Buffer.from(source).toString("base64")}`);
  const pools = SIZES.map((count) => ({ turn: rulesOf(rules, count), count, ns: [] }));
  for (const { turn, count } of pools) turn(2 * count + 20_000);
  for (let round = 0; round < 60; round += 1)
    for (const { turn, ns } of shuffled(pools)) ns.push(turn(5_000));
  const objects = [];
  try {
    for (const count of SIZES) objects.push({ object: await objectOf(count), wall: [], cpu: [] });
    for (const { object } of objects) object.begins();
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const { object, wall, cpu } of shuffled(objects)) {
        const cost = await object.measure(quick ? 1_000 : 2_000);
        wall.push(cost.wall);
        cpu.push(cost.cpu);
      }
    }
  } finally {
    for (const { object } of objects) await object.close();
  }
  return SIZES.map((accounts, at) => ({
    accounts,
    rulesNs: median(pools[at].ns),
    rpcMs: median(objects[at].wall),
    rpcCpuMs: median(objects[at].cpu),
  }));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  console.log("acquire + release      rules alone   over RPC, wall   over RPC, CPU of workerd");
  for (const { accounts, rulesNs, rpcMs, rpcCpuMs } of await run()) {
    const cells = [
      `${accounts} accounts`.padEnd(20),
      `${Math.round(rulesNs)} ns`.padStart(12),
      `${rpcMs.toFixed(3)} ms`.padStart(16),
      `${rpcCpuMs.toFixed(3)} ms`.padStart(26),
    ];
    console.log(cells.join(" "));
  }
}
