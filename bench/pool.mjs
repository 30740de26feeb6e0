// Cost of acquiring and releasing an account slot with 10, 1,000 and 10,000 accounts: of the rules alone, and over RPC
// to the Durable Object on workerd. `node bench/pool.mjs`
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";
import { bundle } from "./bundle.mjs";
import { median } from "./figures.mjs";

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const SIZES = [10, 1_000, 10_000];
const ROUNDS = 5;

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

/** A module that imports what is the project's. */
const bundled = (contents) => bundle({ stdin: { contents, resolveDir: ROOT, loader: "ts" } });

/** Nanoseconds per acquire and release with eight slots in use throughout. */
function timeRules({ AccountPool, MemoryPoolStore }, count, operations) {
  const pool = new AccountPool({
    store: new MemoryPoolStore(),
    now: Date.now,
    setTimer: () => () => {},
    wakeAt: () => {},
  });
  pool.configure(configuration(count));
  const request = { requestId: "r", model: "m" };
  const held = Array.from({ length: 8 }, () => pool.acquire(request).granted.lease);
  const turn = (times) => {
    for (let i = 0; i < times; i += 1) {
      pool.release(held[i & 7]);
      held[i & 7] = pool.acquire(request).granted.lease;
    }
  };
  turn(Math.max(operations / 4, 2 * count));
  const start = process.hrtime.bigint();
  turn(operations);
  return Number(process.hrtime.bigint() - start) / operations;
}

const WORKER = `
import { DurableObject } from "cloudflare:workers";
import { cloudflareAccounts } from "./src/platform/cloudflare/accounts.ts";
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
    const times = Number(new URL(request.url).searchParams.get("times"));
    for (let i = 0; i < times; i += 1) {
      const acquired = await pool.acquire({ requestId: "r", model: "m" });
      acquired.lease.release();
    }
    return new Response();
  },
};`;

/** User and system time of a process so far, milliseconds (Linux). */
async function cpuMs(pid) {
  const fields = (await readFile(`/proc/${pid}/stat`, "utf8")).split(") ")[1].split(" ");
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

/** The workerd process that this process has started. */
async function workerdPid() {
  const children = await readFile(`/proc/${process.pid}/task/${process.pid}/children`, "utf8");
  for (const pid of children.trim().split(" ")) {
    const command = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
    if (command.includes("workerd")) return pid;
  }
  return null;
}

async function timeRpc(count, times) {
  const storage = await mkdtemp(join(tmpdir(), "pool-"));
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
  await fetch(url, { method: "POST", body: JSON.stringify(configuration(count)) });
  const pid = await workerdPid();
  // A slot of each account has been held once: from here on nothing is written.
  await fetch(new URL(`?times=${2 * count}`, url));
  const results = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const cpu = pid === null ? Number.NaN : await cpuMs(pid);
    const start = performance.now();
    await fetch(new URL(`?times=${times}`, url));
    const wall = performance.now() - start;
    results.push({ wall: wall / times, cpu: pid === null ? Number.NaN : ((await cpuMs(pid)) - cpu) / times });
  }
  await miniflare.dispose();
  await rm(storage, { recursive: true, force: true });
  return { wall: median(results.map((it) => it.wall)), cpu: median(results.map((it) => it.cpu)) };
}

/** Rows for all sizes: nanoseconds of the rules, milliseconds of wall clock and CPU over RPC. */
export async function run({ quick = false } = {}) {
  const source = await bundled(
    'export { AccountPool } from "./src/accounts/pool.ts"; export { MemoryPoolStore } from "./test/support/memory-pool-store.ts";',
  );
  const rules = await import(`data:text/javascript;base64,${Buffer.from(source).toString("base64")}`);
  const samples = new Map(SIZES.map((count) => [count, []]));
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const count of SIZES) samples.get(count).push(timeRules(rules, count, 200_000));
  }
  const rows = [];
  for (const count of SIZES) {
    const rpc = await timeRpc(count, quick ? 1_000 : 4_000);
    rows.push({ accounts: count, rulesNs: median(samples.get(count)), rpcMs: rpc.wall, rpcCpuMs: rpc.cpu });
  }
  return rows;
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
