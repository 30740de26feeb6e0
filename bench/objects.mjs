// Measures the throughput of single Durable Objects: their real classes on workerd, with the program's messages. `node
// bench/objects.mjs`
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { convertV4MiniflareOptions, Miniflare, Response } from "miniflare";
import { unstable_getMiniflareWorkerOptions } from "wrangler";
import { root } from "../scripts/development.mjs";
import { bundle } from "./bundle.mjs";
import { median } from "./figures.mjs";
import { children, cpuMs } from "./gateway/process.mjs";
import { standInBrowser } from "./objects/browser.mjs";

const ROUNDS = 5;
const OBJECTS = {
  HISTORY: "History",
  USAGE: "Usage",
  RATE_LIMITER: "RateLimiter",
  RESPONSE_STORE: "ResponseStore",
  ADMINISTRATION: "Administration",
  BROWSER_SESSION: "BrowserSession",
  PAGE_JOBS: "PageJobs",
  ALERTS: "Alerts",
  CONFIGURATION: "Configuration",
  ACCOUNT_POOL: "AccountPool",
  NOTHING: "Nothing",
};

/** A large configuration. */
const CONFIG = {
  accounts: Array.from({ length: 1_000 }, (_, n) => ({ email: `${n}@example.com`, token: `t${n}` })),
  api_keys: Array.from({ length: 1_000 }, (_, n) => ({
    key: `sk-${n}`,
    limits: { tokens_per_day: 1_000_000 },
  })),
  alerts: {
    webhooks: [
      { id: "w", url: "https://example.com/hook", secret: `whsec_${Buffer.alloc(32, 7).toString("base64")}` },
    ],
  },
};

/**
 * Returns a row for each kind of message: number of requests per message, CPU milliseconds of sender and object together,
 * and the same for an object that ignores the message.
 */
export async function run({ quick = false, only } = {}) {
  const storage = await mkdtemp(join(tmpdir(), "objects-"));
  const contents = await bundle({
    entryPoints: [fileURLToPath(new URL("objects/worker.mjs", import.meta.url))],
    // No picture encoding is needed: pictures stay as the browser returns them.
    loader: { ".txt": "text", ".wasm": "empty" },
  });
  const { compatibilityDate, compatibilityFlags } = unstable_getMiniflareWorkerOptions(
    join(root, "wrangler.toml"),
  ).workerOptions;
  const before = new Set(children());
  const miniflare = new Miniflare(
    convertV4MiniflareOptions({
      cf: false,
      resourcePersistencePath: storage,
      modules: [{ type: "ESModule", path: "worker.mjs", contents }],
      compatibilityDate,
      compatibilityFlags,
      durableObjects: Object.fromEntries(
        Object.entries(OBJECTS).map(([name, className]) => [name, { className, useSQLite: true }]),
      ),
      bindings: {
        ADMIN_KEY: "bench",
        DNS_OVER_HTTPS_URL: "off",
        GATEWAY_CONFIG_JSON: JSON.stringify(CONFIG),
        PROVIDER_BASE_URL: "https://example.com",
      },
      serviceBindings: { BROWSER: standInBrowser },
      outboundService: () => new Response(),
    }),
  );
  try {
    const url = await miniflare.ready;
    const workerd = children().filter((pid) => !before.has(pid));
    const cpu = () => workerd.reduce((sum, pid) => sum + cpuMs(pid), 0);
    const kinds = await (await fetch(url)).json();
    const rows = [];
    for (const { name, requests, times } of kinds) {
      if (only !== undefined && !name.includes(only)) continue;
      const count = quick ? Math.ceil(times / 4) : times;
      const cost = async (target) => {
        const ask = new URL(`?kind=${encodeURIComponent(name)}&times=${count}&target=${target}`, url);
        const started = cpu();
        const response = await fetch(ask);
        if (!response.ok) throw new Error(await response.text());
        return (cpu() - started) / count;
      };
      // Warm-up: compilation, first creation, and eviction in a full object.
      await cost("real");
      await cost("nothing");
      const real = [];
      const nothing = [];
      for (let round = 0; round < ROUNDS; round += 1) {
        real.push(await cost("real"));
        nothing.push(await cost("nothing"));
      }
      rows.push({ name, requests, ms: median(real), nothingMs: median(nothing) });
    }
    return rows;
  } finally {
    await miniflare.dispose();
    await rm(storage, { recursive: true, force: true });
  }
}

/** Prints the rows of {@link run}. */
export async function print(options) {
  console.log(
    "\nmessage                                              requests  ms CPU  (to nothing)  messages/s  requests/s",
  );
  for (const { name, requests, ms, nothingMs } of await run(options)) {
    const most = 1_000 / ms;
    const cells = [
      name.padEnd(52),
      String(requests).padStart(8),
      ms.toFixed(3).padStart(8),
      nothingMs.toFixed(3).padStart(13),
      Math.round(most).toLocaleString("en").padStart(12),
      (requests === 0 ? "" : Math.round(most * requests).toLocaleString("en")).padStart(12),
    ];
    console.log(cells.join(""));
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await print({});
