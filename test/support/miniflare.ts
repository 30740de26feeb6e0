import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { convertV4MiniflareOptions, Log, LogLevel, Miniflare } from "miniflare";
import { developmentVars } from "../../scripts/development.mjs";
import { POOL_NAME } from "../../src/pool/shards/pool-name.ts";
import { type Bundle, buildBundles, modulesOf, workerOptionsOf } from "./bundle.ts";
import { shiftedClock } from "./clock.ts";
import { fetchDescribed } from "./described.ts";
import { enlargeEncoderBuffers } from "./encoder-buffers.ts";
import type { EvictableBinding, Gateway, GatewayOptions } from "./gateway.ts";
import { debuggerAt, liveHeap } from "./inspector.ts";
import { descendants } from "./processes.ts";
import { RUN_VARS } from "./runtime.ts";
import { SandboxControl } from "./sandbox.ts";
import { expectNoLeaks, SecretWatch } from "./secret-watch.ts";

enlargeEncoderBuffers();

/**
 * Starts the built gateway and the sandbox on plain Miniflare. Clients connect directly to workerd's socket, so that
 * upstreams see disconnects and requests do not pass Miniflare's proxy. Ready in about 0.5 s.
 */
export async function startMiniflare(options: GatewayOptions = {}): Promise<Gateway> {
  const { gateway, sandbox } = await buildBundles();
  const newStorage = () => mkdtemp(join(tmpdir(), "polygate-"));
  let storage = options.dataFolder ?? (await newStorage());
  const watch = new SecretWatch({ ...developmentVars, ...options.vars }, options.secrets);
  const lines: string[] = [];
  const start = async (): Promise<{ miniflare: Miniflare; url: URL; sandboxUrl: URL }> => {
    const miniflare = new Miniflare(
      convertV4MiniflareOptions({
        cf: false,
        log: new Log(LogLevel.ERROR),
        handleStructuredLogs: ({ message }) => lines.push(message),
        resourcePersistencePath: storage,
        ...(options.inspected === true ? { inspectorPort: 0 } : {}),
        workers: [
          {
            ...workerOf(
              "polygate",
              gateway,
              // As on Deno, so that tests can use several client addresses.
              { ...developmentVars, CLIENT_ADDRESS_HEADER: "cf-connecting-ip", ...RUN_VARS, ...options.vars },
              options,
            ),
            unsafeDirectSockets: [{}],
          },
          { ...workerOf("polygate-sandbox", sandbox, options.sandboxVars ?? {}), unsafeDirectSockets: [{}] },
        ],
      }),
    );
    await miniflare.ready;
    const [url, sandboxUrl] = await Promise.all([
      miniflare.unsafeGetDirectURL("polygate"),
      miniflare.unsafeGetDirectURL("polygate-sandbox"),
    ]);
    return { miniflare, url, sandboxUrl };
  };
  const end = async () => {
    await running.miniflare.dispose();
    watch.leaksWith(lines);
    lines.length = 0;
  };

  const evict = async (binding: EvictableBinding) => {
    const objects = await running.miniflare.getDurableObjectNamespace(binding, "polygate");
    const object: unknown = objects.getByName(binding === "ACCOUNT_POOL" ? POOL_NAME : "main");
    if (!isEvictable(object)) throw new Error("The gateway was not started with `evictable`.");
    await object.evict().catch(() => undefined);
  };

  let running = await start();
  return {
    get url() {
      return running.url.origin;
    },
    get miniflare() {
      return running.miniflare;
    },
    fetch: (path, init) => fetchDescribed(watch, new URL(path, running.url), init),
    // Not by `getWorker`, which starts a thread that loads an HTTP client of its own: a second of processor time.
    sandbox: new SandboxControl((path, method) => fetch(new URL(path, running.sandboxUrl), { method })),
    logs: () => lines,
    leaks: () => watch.leaksWith(lines),
    evictPool: () => evict("ACCOUNT_POOL"),
    evict: (binding) => evict(binding),
    resizePools: async (count) => {
      const objects = await running.miniflare.getDurableObjectNamespace("CONFIGURATION", "polygate");
      const object: unknown = objects.getByName("main");
      if (!isResizable(object)) throw new Error("The gateway was not started with `evictable`.");
      await object.resize(count).catch(() => undefined);
      // A call restarts the evicted object.
      const next: unknown = objects.getByName("main");
      if (isResizable(next)) await next.poolPart("main");
    },
    poolRows: async () => {
      const pools = await running.miniflare.getDurableObjectNamespace("ACCOUNT_POOL", "polygate");
      const pool: unknown = pools.getByName(POOL_NAME);
      return isEvictable(pool) ? pool.rows() : null;
    },
    heap: async () =>
      liveHeap(await debuggerAt(await running.miniflare.getInspectorURL(), /user:polygate$/), async () => {
        await (await fetch(new URL("/healthz", running.url))).text();
      }),
    processes: () => descendants().flatMap(({ pid, command }) => (/\bworkerd\b/.test(command) ? [pid] : [])),
    restart: async () => {
      await end();
      running = await start();
    },
    reset: async () => {
      await end();
      await rm(storage, { recursive: true, force: true });
      storage = await newStorage();
      running = await start();
    },
    close: async () => {
      await running.miniflare.dispose();
      if (options.dataFolder === undefined) await rm(storage, { recursive: true, force: true });
      expectNoLeaks(watch.leaksWith(lines));
    },
  };
}

const isEvictable = (stub: unknown): stub is { evict(): Promise<void>; rows(): Promise<number> } =>
  stub !== null && (typeof stub === "object" || typeof stub === "function") && "evict" in stub;

const isResizable = (
  stub: unknown,
): stub is { resize(count: number): Promise<void>; poolPart(name: string): Promise<unknown> } =>
  isEvictable(stub) && "resize" in stub;

/** The gateway's entry, with an evictable pool and a clock that is ahead. */
function evictableEntry(entry: string): string {
  return `
    import "./clock.js";
    import worker, { AccountPool as Pool, Configuration as Settings, History as Archive, Usage as UsageObject } from "./${entry}";
    export * from "./${entry}";
    export class AccountPool extends Pool {
      rows() {
        const count = "select (select count(*) from mark) + (select count(*) from isolate) n";
        return this.ctx.storage.sql.exec(count).one().n;
      }
      evict() {
        this.ctx.abort("evicted by a test");
      }
    }
    export class Configuration extends Settings {
      constructor(ctx, env) {
        const count = ctx.storage.kv.get("pools of a test");
        super(ctx, count === undefined ? env : { ...env, POOL_SHARDS: count });
      }
      evict() {
        this.ctx.abort("evicted by a test");
      }
      async resize(count) {
        this.ctx.storage.kv.put("pools of a test", String(count));
        await this.ctx.storage.sync();
        this.ctx.abort("resized by a test");
      }
    }
    export class History extends Archive {
      evict() {
        this.ctx.abort("evicted by a test");
      }
    }
    export class Usage extends UsageObject {
      evict() {
        this.ctx.abort("evicted by a test");
      }
    }
    export default worker;`;
}

function workerOf(
  name: string,
  bundle: Bundle,
  bindings: Readonly<Record<string, string>>,
  { evictable = false, clockAt = Date.now() }: GatewayOptions = {},
) {
  const { modulesRules: _rules, ...options } = workerOptionsOf(bundle);
  return {
    ...options,
    name,
    modules: [
      ...(evictable
        ? [
            {
              type: "ESModule" as const,
              path: join(bundle.folder, "evictable.js"),
              contents: evictableEntry(bundle.entry),
            },
            {
              type: "ESModule" as const,
              path: join(bundle.folder, "clock.js"),
              contents: shiftedClock(clockAt - Date.now()),
            },
          ]
        : []),
      ...modulesOf(bundle),
    ],
    modulesRoot: bundle.folder,
    bindings: Object.assign({}, options["bindings"], bindings),
  };
}
