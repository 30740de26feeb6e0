import { SandboxProvider } from "../../../sandbox/provider.ts";
import { watcherInProcess } from "../../alerts/in-process.ts";
import { SqlArchive } from "../../archive/archive.ts";
import { SqlJournal } from "../../audit/sql-journal.ts";
import { isManagedOwner } from "../../auth/caller-keys.ts";
import { GatheredUseStore } from "../../limits/gathered-store.ts";
import { SqlUseStore } from "../../limits/sql-store.ts";
import { jobsInProcess } from "../../pages/jobs/in-process.ts";
import { doTask } from "../../pages/jobs/work.ts";
import { createInProcessPool } from "../../pool/in-process.ts";
import { SqlPoolStore } from "../../pool/sql-pool-store.ts";
import { needsNoAccount } from "../../provider/drivers.ts";
import { proxiedFetch } from "../../provider/proxy/fetch.ts";
import { SqlUsage } from "../../usage/sql-usage.ts";
import type { Platform } from "../platform.ts";
import type { Fetch } from "../upstream.ts";
import type { Variables } from "../variables.ts";
import { administrationInProcess } from "./administration.ts";
import { alertMemory } from "./alert-memory.ts";
import { AnswerBodies } from "./answer-bodies.ts";
import { answersIn } from "./answers.ts";
import { AssetFolder } from "./assets.ts";
import { findBrowser, LocalBrowsers, NO_BROWSER } from "./browser.ts";
import { DamagedConfigurationError, denoConfiguration } from "./configuration.ts";
import { dataFolderOrExit, exit } from "./data-folder.ts";
import { startEgress } from "./egress.ts";
import { KeptForCallers } from "./kept.ts";
import { blockLists, denoPages } from "./pages.ts";
import { RateLimits } from "./rate-limits.ts";
import { dial } from "./sockets.ts";
import { upgrade } from "./web-socket.ts";

/** Base URL of the sandbox in this process. The name is never looked up. */
const SANDBOX_URL = "http://sandbox";

/** Limits of stored job results in bytes: for all clients, and for one client. */
const JOB_BYTES = 250_000_000;
const JOB_BYTES_OF_CLIENT = 100_000_000;

/** A platform that can be closed. */
export interface DenoRuntime {
  readonly platform: Platform;
  /** Closes browsers and files. The platform cannot be used afterwards. */
  close(): void;
}

/** The runtime of a self-hosted process. */
export async function denoRuntime(variables: Variables): Promise<DenoRuntime> {
  const { pages, process } = variables;
  const projectFolder = new URL("../../..", import.meta.url).pathname.replace(/\/$/, "");
  const data = await dataFolderOrExit(process.dataFolder);
  const { database } = data;
  const uses = new GatheredUseStore(new SqlUseStore(database), (work) => database.transaction(work));
  const accounts = createInProcessPool(new SqlPoolStore(database), uses);
  const journal = new SqlJournal(data.database);
  const configuration = await denoConfiguration(data.database, variables, accounts, journal).catch(
    (error: unknown) => {
      if (error instanceof DamagedConfigurationError) return exit(error.message);
      throw error;
    },
  );
  const archive = new SqlArchive(data.database, Date.now);
  archive.interrupt();
  const usage = new SqlUsage(data.database, Date.now);
  await usage.countNotes(await configuration.read());
  const isManaged = async (owner: string) => isManagedOwner((await configuration.read()).config, owner);
  const kept = new KeptForCallers(data.database, variables.kept, Date.now, isManaged);
  const limits = new RateLimits(data.database, Date.now);
  const bodies = await AnswerBodies.open(`${process.dataFolder}/answers`, Deno);
  const egress = await startEgress((pair) => pages.privateHosts.has(pair));
  const executable = await findBrowser(process, projectFolder);
  const browsers =
    executable === null ? null : new LocalBrowsers(executable, egress.url, pages, await blockLists());
  const filtered = Deno.createHttpClient({ proxy: { url: egress.url.replace("socks5:", "socks5h:") } });
  const assets = new AssetFolder(`${projectFolder}/dist/assets`);
  const direct: Fetch = (url, init) => fetch(url, init);
  const useSandbox = variables.providerBaseUrl === null && variables.development;
  const sandbox = useSandbox ? sandboxFetch(direct) : null;
  const filteredFetch: Fetch = (url, init) => fetch(url, { ...init, client: filtered });
  const watched = {
    variables,
    configuration,
    accounts,
    archive,
    fetch: filteredFetch,
    now: Date.now,
  };
  const alerts = watcherInProcess(watched, alertMemory(data.database));
  const jobs = jobsInProcess({
    sql: data.database,
    now: Date.now,
    work: (task) => doTask(platform, task),
    maxBytes: JOB_BYTES,
    maxBytesOfClient: JOB_BYTES_OF_CLIENT,
  });
  const platform: Platform = {
    variables,
    configuration,
    configPath: "storage:config",
    accounts,
    archive,
    usage,
    answers: answersIn(data.database, archive, usage),
    administration: administrationInProcess(Date.now),
    journal,
    alerts,
    responses: (owner) => kept.responses(owner),
    files: (owner) => kept.files(owner),
    uploads: (owner) => kept.uploads(owner),
    fetch: filteredFetch,
    deploymentFetch: direct,
    upstream: (proxy) => (proxy === null ? (sandbox ?? direct) : proxiedFetch(dial, proxy)),
    namesServerThroughProxy: true,
    providerBaseUrl: variables.providerBaseUrl ?? (sandbox === null ? null : SANDBOX_URL),
    providerSignsIn: !needsNoAccount(variables.providerDriver),
    upgrade,
    pages: denoPages(browsers ?? NO_BROWSER, limits, jobs, bodies),
    asset: (request) => assets.get(request),
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

/** Serves the sandbox provider in this process; `elsewhere` fetches all other URLs. */
function sandboxFetch(elsewhere: Fetch): Fetch {
  const sandbox = new SandboxProvider();
  return (url, init) =>
    url.startsWith(`${SANDBOX_URL}/`) ? sandbox.fetch(new Request(url, init)) : elsewhere(url, init);
}
