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
 * @typedef {object} Subject a server of chat completions
 * @property {string} name
 * @property {number} port
 * @property {string} [model] the model that is asked for, if it is not that of the default provider
 * @property {number | null} pid the process whose CPU time counts; null: none
 * @property {() => Promise<unknown>} close
 */

const PATH = "/v1/chat/completions";

export { PATH };

/** More slots than the load has parallel requests, so that the benchmark measures the lease and not the queue. */
const SLOTS = 128;

/** Models of providers of the caller's own protocol: their answers pass natively. The accounts of the second have no limit. */
export const NATIVE = { model: "native/m" };
export const NO_LIMIT = { model: "free/m" };

const configOf = (base_url) => {
  const provider = (id, limit) => ({ id, driver: "openai", base_url, ...limit });
  return {
    keys: ["sk-bench"],
    providers: [
      provider("native", { account_max_inflight: SLOTS }),
      provider("free", { max_concurrent: 0 }),
      // Streams of messages.
      {
        id: "vendor",
        driver: "anthropic",
        base_url: base_url.replace("/v1", ""),
        token: "token-of-vendor",
        pipe_streams: true,
      },
    ],
    accounts: [undefined, "native", "free"].flatMap((provider) =>
      Array.from({ length: 8 }, (_, index) => ({ token: `token-${index}-${provider}`, provider })),
    ),
    runtime: { account_max_inflight: SLOTS },
  };
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

/** Environment variables of the gateway. `upstream` is the upstream's port. */
export const variables = (upstream, limited = false) => ({
  PROVIDER_DRIVER: "openai",
  PROVIDER_PIPE_STREAMS: "true",
  // With native tool calls the gateway would not scan the text.
  PROVIDER_TOOL_CALLS: "markup",
  PROVIDER_BASE_URL: `http://127.0.0.1:${upstream}/v1`,
  GATEWAY_CONFIG_JSON: JSON.stringify({
    ...configOf(`http://127.0.0.1:${upstream}/v1`),
    ...(limited && { api_keys: [LIMITED] }),
  }),
});

/** Returns the process that `start` creates. */
async function startedBy(start) {
  const before = new Set(children());
  const value = await start();
  const pid = children().find((child) => !before.has(child));
  return { value, pid };
}

/**
 * Starts a Worker directly on workerd, with its own socket: no proxy in front and no printed log. `settings` are runtime
 * settings.
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
 * Starts the gateway in its deployed form, or another build. `settings` are runtime settings.
 *
 * @param {number} upstream its port
 * @param {{ name?: string, bundle?: { folder: string, entry: string }, settings?: object, limited?: boolean, vars?: object
 *   }} [options] `limited`: also configures a rate-limited key
 */
export async function gatewayOnWorkerd(upstream, { name = "gateway", bundle, settings, limited, vars } = {}) {
  const gateway = bundle ?? (await buildBundles()).gateway;
  // In development another Worker serves assets in front of the gateway. The benchmark excludes it.
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

/** Starts the Workers for comparison, ordered by the work that they do. */
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
 * Starts a Deno process. `serve`: runs the script with `deno serve`; otherwise the script itself listens on PORT.
 * `inspected`: with a debugger at `debuggerUrl`. `folder`: the checkout whose `deno.json` is used.
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
 * Starts the gateway on Deno; null if this build does not run there.
 *
 * @param {number} upstream its port
 * @param {{ name?: string, folder?: string, limited?: boolean, inspected?: boolean }} [options] `folder`: another checkout,
 *   with its `node_modules`; `limited`: also configures a rate-limited key
 */
export function gatewayOnDeno(upstream, options = {}) {
  const { name = "gateway, Deno", folder = root, limited = false, inspected = false } = options;
  const entry = join(folder, "src", "deno.ts");
  if (!existsSync(entry)) return null;
  return denoProcess(name, entry, variables(upstream, limited), { serve: true, folder, inspected });
}

/** Starts a pass-through server on Deno, or one that copies each chunk. */
export function peerOnDeno(upstream, name = "pass-through") {
  return denoProcess(`${name}, Deno`, join(import.meta.dirname, "deno-pass-through.mjs"), {
    UPSTREAM: `http://127.0.0.1:${upstream}`,
    COPIES: String(name === "copying loop"),
  });
}
