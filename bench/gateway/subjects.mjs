import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";
import { unstable_getMiniflareWorkerOptions } from "wrangler";
import { root } from "../../scripts/development.mjs";
import { buildBundles, modulesOf } from "../../test/support/bundle.ts";
import { freePort } from "../../test/support/free-port.ts";
import { debuggerAt } from "../../test/support/inspector.ts";
import { COPYING_LOOP, PASS_THROUGH, REWRITER, RPC_PAIR } from "./peers.mjs";
import { children } from "./process.mjs";

/**
 * @typedef {object} Subject something that answers chat completions
 * @property {string} name
 * @property {number} port
 * @property {number | null} pid the process whose CPU counts; null: none
 * @property {() => Promise<unknown>} close
 */

const PATH = "/v1/chat/completions";

export { PATH };

/** More slots than the load has requests: what is measured is the lease, not the queue. */
const CONFIG = {
  keys: ["sk-bench"],
  accounts: Array.from({ length: 8 }, (_, index) => ({ token: `token-${index}` })),
  runtime: { account_max_inflight: 128 },
};

/** A key with limits that no benchmark reaches. */
export const LIMITED_KEY = "sk-bench-limited";
const LIMITED = {
  key: LIMITED_KEY,
  limits: {
    requests_per_minute: 10_000_000,
    tokens_per_minute: 1_000_000_000,
    tokens_per_month: 1_000_000_000_000,
  },
};

/** What the gateway is told here, with the upstream's port. */
export const variables = (upstream, limited = false) => ({
  PROVIDER_DRIVER: "openai",
  // What a backend calls natively needs no look at its text.
  PROVIDER_TOOL_CALLS: "markup",
  PROVIDER_BASE_URL: `http://127.0.0.1:${upstream}/v1`,
  GATEWAY_CONFIG_JSON: JSON.stringify(limited ? { ...CONFIG, api_keys: [LIMITED] } : CONFIG),
});

/** The process that `start` brings into being. */
async function startedBy(start) {
  const before = new Set(children());
  const value = await start();
  const pid = children().find((child) => !before.has(child));
  return { value, pid };
}

/**
 * A Worker on workerd itself, with a direct socket: nothing stands before it, and no log is printed. `settings` are those of
 * the runtime.
 */
export async function worker(name, options, settings = {}) {
  const storage = await mkdtemp(join(tmpdir(), "bench-"));
  const { value: miniflare, pid } = await startedBy(async () => {
    const started = new Miniflare(
      convertV4MiniflareOptions({
        cf: false,
        handleStructuredLogs: () => undefined,
        resourcePersistencePath: storage,
        ...settings,
        workers: [{ ...options, name: "subject", unsafeDirectSockets: [{}] }],
      }),
    );
    await started.ready;
    return started;
  });
  const url = await miniflare.unsafeGetDirectURL("subject");
  const close = async () => {
    await miniflare.dispose();
    await rm(storage, { recursive: true, force: true });
  };
  return { name, port: Number(url.port), pid, miniflare, close };
}

function peer(name, source, upstream, options = {}) {
  return worker(name, {
    ...options,
    modules: [{ type: "ESModule", path: "peer.mjs", contents: source }],
    compatibilityDate: "2026-09-01",
    bindings: { UPSTREAM: `http://127.0.0.1:${upstream}` },
  });
}

/**
 * The gateway, built as it is deployed unless another build is given. `settings` are those of the runtime.
 *
 * @param {number} upstream its port
 * @param {{ name?: string, bundle?: { folder: string, entry: string }, settings?: object, limited?: boolean, vars?: object }} [options] `limited`:
 *   there is a key with limits, too
 */
export async function gatewayOnWorkerd(upstream, { name = "gateway", bundle, settings, limited, vars } = {}) {
  const gateway = bundle ?? (await buildBundles()).gateway;
  // Development serves assets by a Worker of its own in front of ours; that one is not what is measured.
  const {
    modulesRules: _modules,
    assets: _assets,
    ...options
  } = unstable_getMiniflareWorkerOptions(join(root, "wrangler.toml")).workerOptions;
  const subject = {
    ...options,
    modules: modulesOf(gateway),
    modulesRoot: gateway.folder,
    bindings: { ...options.bindings, ...variables(upstream, limited), ...vars },
  };
  return worker(name, subject, settings);
}

/** The Workers that the gateway is compared with, from the least to the most that they do. */
export async function peersOnWorkerd(upstream) {
  const pool = { durableObjects: { POOL: { className: "Pool", useSQLite: true } } };
  return [
    await peer("pass-through", PASS_THROUGH, upstream),
    await peer("copying loop", COPYING_LOOP, upstream),
    await peer("rewriter", REWRITER, upstream),
    await peer("slot over RPC", RPC_PAIR, upstream, pool),
  ];
}

/**
 * `serve`: the script is what `deno serve` runs; otherwise it listens at PORT by itself. `inspected`: with a debugger, at `debuggerUrl`.
 * `folder`: the checkout whose `deno.json` counts.
 */
async function denoProcess(name, script, env, { serve = false, inspected = false, folder = root } = {}) {
  const port = await freePort();
  const data = await mkdtemp(join(tmpdir(), "polygate-bench-"));
  const how = serve ? ["serve", "--host", "127.0.0.1", "--port", String(port)] : ["run", "--unstable-kv"];
  const inspector = inspected ? new URL(`http://127.0.0.1:${await freePort()}`) : null;
  if (inspector !== null) how.push(`--inspect=${inspector.host}`);
  const child = spawn(join(root, "node_modules", ".bin", "deno"), [...how, "-A", "--no-check", script], {
    cwd: folder,
    env: { ...process.env, ...env, DATA_DIR: data, PORT: String(port) },
    stdio: ["ignore", "ignore", "inherit"],
  });
  for (let tries = 0; ; tries += 1) {
    const response = await fetch(`http://127.0.0.1:${port}/healthz`).catch(() => null);
    await response?.body?.cancel();
    if (response !== null) break;
    if (tries === 150 || child.exitCode !== null) throw new Error(`${name} does not start`);
    await sleep(100);
  }
  const close = async () => {
    child.kill();
    if (child.exitCode === null) await new Promise((resolve) => child.once("exit", resolve));
    await rm(data, { recursive: true, force: true });
  };
  const debuggerUrl = inspector === null ? null : await debuggerAt(inspector, /./);
  return { name, port, pid: child.pid, debuggerUrl, close };
}

/**
 * The gateway on Deno; null when this build does not run there.
 *
 * @param {number} upstream its port
 * @param {{ name?: string, folder?: string, limited?: boolean, inspected?: boolean }} [options] `folder`: another checkout, with its
 *   `node_modules`; `limited`: there is a key with limits, too
 */
export function gatewayOnDeno(upstream, options = {}) {
  const { name = "gateway, Deno", folder = root, limited = false, inspected = false } = options;
  const entry = join(folder, "src", "deno.ts");
  if (!existsSync(entry)) return null;
  return denoProcess(name, entry, variables(upstream, limited), { serve: true, folder, inspected });
}

/** A pass-through on Deno. */
export function peerOnDeno(upstream) {
  return denoProcess("pass-through, Deno", join(import.meta.dirname, "deno-pass-through.mjs"), {
    UPSTREAM: `http://127.0.0.1:${upstream}`,
  });
}
