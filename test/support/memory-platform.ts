import type * as z from "zod";
import { isManagedOwner } from "../../src/core/auth/caller-keys.ts";
import { ConfigurationClient } from "../../src/core/config/configuration-client.ts";
import { ConfigurationCore, type StoredConfig } from "../../src/core/config/configuration-core.ts";
import { configSchema } from "../../src/core/config/schema.ts";
import { once } from "../../src/core/encoding/once.ts";
import type { PagesPlatform } from "../../src/core/ports/pages.ts";
import type { Platform } from "../../src/core/ports/platform.ts";
import type { Fetch } from "../../src/core/ports/upstream.ts";
import { parseVariables } from "../../src/core/variables/parse-variables.ts";
import { DRIVER_ALIASES, DRIVER_NAMES, needsNoAccount } from "../../src/gateway/providers/drivers.ts";
import { createPoolDeployment } from "../../src/gateway/providers/pool-deployment.ts";
import { createInProcessWatcher } from "../../src/operator/alerts/in-process-watcher.ts";
import { SqlAuditLog } from "../../src/operator/audit/sql-audit-log.ts";
import { ProcessAnswerCache } from "../../src/pages/cache/process-answer-cache.ts";
import { notifyWebhook } from "../../src/pages/job-api/deliver.ts";
import { runTask } from "../../src/pages/job-api/run-task.ts";
import { createInProcessJobs } from "../../src/pages/jobs/in-process-jobs.ts";
import { buildPoolConfiguration } from "../../src/pool/configuration.ts";
import { createInProcessPool } from "../../src/pool/in-process-pool.ts";
import { SqlArchive } from "../../src/records/archive/sql-archive.ts";
import { SqlUsage } from "../../src/records/usage/sql-usage.ts";
import { createInProcessAdministration } from "../../src/runtime/deno/administration.ts";
import { CallerObjectStore } from "../../src/runtime/deno/caller-object-store.ts";
import { memoryDatabase } from "../unit/records/archive/sqlite.ts";
import { MemoryPoolStore } from "./pool-simulator/memory-pool-store.ts";
import { ScriptedUpstream } from "./scripted-upstream.ts";
import { sessionsScript } from "./upstream-scripts.ts";

/** Options of a test platform. */
export interface MemoryPlatformOptions {
  /** Environment variables of the deployment. */
  readonly env?: Readonly<Record<string, string>>;
  /** The stored configuration. Defaults: the key {@link KEY} and two accounts. */
  readonly config?: z.input<typeof configSchema>;
  /** The provider; default: a healthy one with the sessions protocol. */
  readonly upstream?: ScriptedUpstream;
  /** Handles requests to URLs that callers name; default: unreachable. */
  readonly fetch?: Fetch;
  /** The console's files by path. */
  readonly assets?: Readonly<Record<string, string>>;
  /** Parts of the page service; default: no browser. */
  readonly pages?: Partial<PagesPlatform>;
}

/** The configured API key. */
export const KEY = "sk-test";
/** The configured accounts, in the order in which the first requests get them. */
export const ACCOUNTS = ["one@test", "two@test"] as const;

/** Default URL of the provider. */
const BASE_URL = "http://upstream.test";

const CACHE_BYTES = 1_000_000;

/** An account that signs in with its e-mail address. */
export const accountNamed = (email: string) => ({ email, password: "secret" });

const nowhere: Fetch = async (url) => {
  throw new TypeError(`a test without a network asked for ${url}`);
};

/**
 * A platform entirely in memory, for tests without a runtime. It uses the test's clock. Pool, configuration, archive and
 * stored objects are the program's own, on stores that end with the test.
 */
export async function memoryPlatform(options: MemoryPlatformOptions = {}): Promise<Platform> {
  const {
    env = {},
    upstream = new ScriptedUpstream(sessionsScript()),
    fetch = nowhere,
    assets = {},
  } = options;
  const now = Date.now;
  const variables = parseVariables(
    { PROVIDER_BASE_URL: BASE_URL, ...env },
    { drivers: DRIVER_NAMES, driverAliases: DRIVER_ALIASES },
  );
  const accounts = createInProcessPool(new MemoryPoolStore());
  const config = configSchema.parse({
    keys: [KEY],
    accounts: ACCOUNTS.map(accountNamed),
    ...options.config,
  });
  let stored: StoredConfig = { version: 1, config, source: "" };
  const core = new ConfigurationCore(
    {
      load: () => stored,
      save: (next, also) => {
        also?.();
        stored = next;
      },
    },
    variables,
  );
  const tellPool = async () =>
    accounts.configure(
      await buildPoolConfiguration(
        core.snapshot.config,
        createPoolDeployment(variables),
        core.snapshot.version,
      ),
    );
  await tellPool();
  // Most tests use few of the stores: each is created at its first use.
  const auditLog = once(() => new SqlAuditLog(memoryDatabase()));
  const archive = new SqlArchive(memoryDatabase(), now);
  const configuration = new ConfigurationClient(
    {
      newerThan: async (known) => (core.snapshot.version === known ? null : core.snapshot),
      replace: async (base, next, note) => {
        const before = core.snapshot;
        const outcome = core.replace(base, next);
        if (outcome.stored && note !== null) auditLog().recordEdit(before, outcome.snapshot.version, note);
        if (outcome.stored) await tellPool();
        return outcome;
      },
    },
    now,
  );
  const isManaged = async (owner: string) => isManagedOwner((await configuration.read()).config, owner);
  const kept = once(
    () => new CallerObjectStore(memoryDatabase(), variables.storedObjectLimits, now, isManaged),
  );
  const jobs = once(() =>
    createInProcessJobs({
      sql: memoryDatabase(),
      now,
      runTask: (task, isWanted) => runTask(platform, task, isWanted),
      notify: (job, webhook) => notifyWebhook(platform, job, webhook),
      maxBytes: CACHE_BYTES,
      maxBytesPerClient: CACHE_BYTES,
    }),
  );
  const usage = once(() => new SqlUsage(memoryDatabase(), now));
  const administration = once(() => createInProcessAdministration(memoryDatabase(), now));
  const platform: Platform = {
    variables,
    configuration,
    configPath: "memory:config",
    accounts,
    archive,
    get usage() {
      return usage();
    },
    get administration() {
      return administration();
    },
    get auditLog() {
      return auditLog();
    },
    alerts: createInProcessWatcher({
      variables,
      configuration,
      accounts,
      archive,
      fetch,
      deploymentFetch: nowhere,
      now,
    }),
    responses: (owner, startedAt) => kept().responses(owner, startedAt),
    eraseCaller: (owner) => kept().erase(owner),
    files: (owner, startedAt) => kept().files(owner, startedAt),
    batches: (owner, startedAt) => kept().batches(owner, startedAt),
    accountStates: (owner, startedAt) => kept().accountStates(owner, startedAt),
    uploads: (owner, startedAt) => kept().uploads(owner, startedAt),
    responseCache: new ProcessAnswerCache(now, CACHE_BYTES),
    replays: (owner, startedAt) => kept().replays(owner, startedAt),
    fetch,
    deploymentFetch: nowhere,
    upstreamFetch: (proxy) => upstream.through(proxy),
    upgradeToWebSocket: () => {
      throw new Error("this platform has no WebSockets");
    },
    openWebSocket: async () => {
      throw new Error("this platform has no WebSockets");
    },
    supportsSniThroughProxy: true,
    providerBaseUrl: variables.providerBaseUrl,
    providerSignsIn: !needsNoAccount(variables.providerDriver),
    pages: {
      ...pagesWithoutBrowser(now),
      get jobs() {
        return jobs();
      },
      ...options.pages,
    },
    fetchAsset: async (request) => {
      const text = assets[new URL(request.url).pathname];
      return text === undefined ? null : new Response(text, { headers: { "content-type": "text/html" } });
    },
    now,
  };
  return platform;
}

/** The page service without browser, codecs and fingerprints, and without rate limit. */
function pagesWithoutBrowser(now: () => number): Omit<PagesPlatform, "jobs"> {
  return {
    browser: null,
    cache: new ProcessAnswerCache(now, CACHE_BYTES),
    countCalls: async (_client, limit) => ({ allowed: true, limit, remaining: limit, resetSeconds: 0 }),
    supportsAvif: false,
    loadImageConversion: async () => {
      throw new Error("this platform has no image codecs");
    },
    loadFingerprints: async () => "",
  };
}
