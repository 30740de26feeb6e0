import { SandboxProvider } from "../../../sandbox/provider.ts";
import { isManagedOwner } from "../../core/auth/caller-keys.ts";
import type { Platform } from "../../core/ports/platform.ts";
import type { Fetch } from "../../core/ports/upstream.ts";
import type { Variables } from "../../core/variables/variables.ts";
import { needsNoAccount } from "../../gateway/providers/drivers.ts";
import { proxiedFetch } from "../../gateway/upstream/proxy/proxied-fetch.ts";
import { createInProcessWatcher } from "../../operator/alerts/in-process-watcher.ts";
import { SqlAuditLog } from "../../operator/audit/sql-audit-log.ts";
import { ProcessAnswerCache } from "../../pages/cache/process-answer-cache.ts";
import { notifyWebhook } from "../../pages/job-api/deliver.ts";
import { runTask } from "../../pages/job-api/run-task.ts";
import { createInProcessJobs } from "../../pages/jobs/in-process-jobs.ts";
import { createInProcessPool } from "../../pool/in-process-pool.ts";
import { BatchedUseStore } from "../../pool/limits/batched-use-store.ts";
import { SqlUseStore } from "../../pool/limits/sql-use-store.ts";
import { SqlPoolStore } from "../../pool/storage/sql-pool-store.ts";
import { SqlArchive } from "../../records/archive/sql-archive.ts";
import { SqlUsage } from "../../records/usage/sql-usage.ts";
import { createInProcessAdministration } from "./administration.ts";
import { AssetFolder } from "./assets.ts";
import { findBrowser, LocalBrowsers, UNAVAILABLE_BROWSER } from "./browser.ts";
import { CachedBodyFolder } from "./cached-body-folder.ts";
import { CallerObjectStore } from "./caller-object-store.ts";
import { createConfigurationClient, DamagedConfigurationError } from "./configuration.ts";
import { exitWithReason, openDataFolderOrExit } from "./data-folder.ts";
import { startEgressFilter } from "./egress-filter.ts";
import { createFilteredFetch } from "./filtered-fetch.ts";
import { createOutcomeStore } from "./outcome-store.ts";
import { createPagesPlatform, readBlockLists } from "./pages.ts";
import { RateLimits } from "./rate-limits.ts";
import { dial } from "./sockets.ts";
import { createWatchStateStore } from "./watch-state-store.ts";
import { openWebSocket, upgradeWebSocket } from "./web-socket.ts";

/** Base URL of the sandbox in this process. The name is never looked up. */
const SANDBOX_URL = "http://sandbox";

/** Limits of stored job results in bytes: for all clients, and for one client. */
const MAX_JOB_BYTES = 250_000_000;
const MAX_CLIENT_JOB_BYTES = 100_000_000;

/** Size limit of the response cache on the disk, in bytes. */
const RESPONSE_CACHE_BYTES = 64 * 1024 * 1024;

/** A platform that can be closed. */
export interface DenoRuntime {
  readonly platform: Platform;
  /** Closes browsers and files. The platform cannot be used afterwards. */
  close(): void;
}

/**
 * The runtime of a self-hosted process.
 *
 * @param closing see `Platform`
 */
export async function createDenoRuntime(variables: Variables, closing: AbortSignal): Promise<DenoRuntime> {
  const { pages, process } = variables;
  const projectFolder = new URL("../../..", import.meta.url).pathname.replace(/\/$/, "");
  const data = await openDataFolderOrExit(process.dataFolder);
  const { database } = data;
  const uses = new BatchedUseStore(new SqlUseStore(database), (work) => database.transaction(work));
  const accounts = createInProcessPool(new SqlPoolStore(database), uses);
  const auditLog = new SqlAuditLog(data.database);
  const configuration = await createConfigurationClient(data.database, variables, accounts, auditLog).catch(
    (error: unknown) => {
      if (error instanceof DamagedConfigurationError) return exitWithReason(error.message);
      throw error;
    },
  );
  const archive = new SqlArchive(data.database, Date.now);
  archive.endInterrupted();
  const usage = new SqlUsage(data.database, Date.now);
  await usage.countNotes(await configuration.read());
  const isManaged = async (owner: string) => isManagedOwner((await configuration.read()).config, owner);
  const callerObjects = new CallerObjectStore(
    data.database,
    variables.storedObjectLimits,
    Date.now,
    isManaged,
  );
  const rateLimits = new RateLimits(data.database, Date.now);
  const cachedBodies = await CachedBodyFolder.open(`${process.dataFolder}/answers`, Deno);
  const egress = await startEgressFilter((pair) => pages.privateHosts.has(pair));
  const executable = await findBrowser(process, projectFolder);
  const browsers =
    executable === null ? null : new LocalBrowsers(executable, egress.url, pages, await readBlockLists());
  const assets = new AssetFolder(`${projectFolder}/dist/assets`);
  const direct: Fetch = (url, init) => fetch(url, init);
  const useSandbox = variables.providerBaseUrl === null && variables.development;
  const sandbox = useSandbox ? createSandboxFetch(direct) : null;
  const filteredFetch = createFilteredFetch(egress.url);
  const watcherPlatform = {
    variables,
    configuration,
    accounts,
    archive,
    fetch: filteredFetch,
    deploymentFetch: direct,
    now: Date.now,
  };
  const alerts = createInProcessWatcher(watcherPlatform, createWatchStateStore(data.database));
  const jobs = createInProcessJobs({
    sql: data.database,
    now: Date.now,
    runTask: (task, isWanted) => runTask(platform, task, isWanted),
    notify: (job, webhook) => notifyWebhook(platform, job, webhook),
    maxBytes: MAX_JOB_BYTES,
    maxBytesPerClient: MAX_CLIENT_JOB_BYTES,
  });
  const platform: Platform = {
    variables,
    configuration,
    configPath: "storage:config",
    accounts,
    archive,
    usage,
    outcomes: createOutcomeStore(data.database, archive, usage),
    administration: createInProcessAdministration(data.database, Date.now),
    auditLog,
    alerts,
    responses: (owner, startedAt) => callerObjects.responses(owner, startedAt),
    eraseCaller: (owner) => callerObjects.erase(owner),
    files: (owner, startedAt) => callerObjects.files(owner, startedAt),
    batches: (owner, startedAt) => callerObjects.batches(owner, startedAt),
    accountStates: (owner, startedAt) => callerObjects.accountStates(owner, startedAt),
    uploads: (owner, startedAt) => callerObjects.uploads(owner, startedAt),
    replays: (owner, startedAt) => callerObjects.replays(owner, startedAt),
    responseCache: new ProcessAnswerCache(Date.now, RESPONSE_CACHE_BYTES, cachedBodies),
    fetch: filteredFetch,
    deploymentFetch: direct,
    upstreamFetch: (proxy) => (proxy === null ? (sandbox ?? direct) : proxiedFetch(dial, proxy)),
    supportsSniThroughProxy: true,
    providerBaseUrl: variables.providerBaseUrl ?? (sandbox === null ? null : SANDBOX_URL),
    providerSignsIn: !needsNoAccount(variables.providerDriver),
    upgradeToWebSocket: upgradeWebSocket,
    closing,
    openWebSocket,
    pages: createPagesPlatform(browsers ?? UNAVAILABLE_BROWSER, rateLimits, jobs, cachedBodies),
    fetchAsset: (request) => assets.get(request),
    now: Date.now,
  };
  return {
    platform,
    close: () => {
      browsers?.close();
      egress.close();
      data.close();
    },
  };
}

/** Serves the sandbox provider in this process; `otherFetch` fetches all other URLs. */
function createSandboxFetch(otherFetch: Fetch): Fetch {
  const sandbox = new SandboxProvider();
  return (url, init) =>
    url.startsWith(`${SANDBOX_URL}/`) ? sandbox.fetch(new Request(url, init)) : otherFetch(url, init);
}
