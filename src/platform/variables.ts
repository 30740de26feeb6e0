import { configJsonFault } from "../config/source.ts";
import { REGIONS, type Region } from "./regions.ts";
import {
  baseUrl,
  count,
  Fault,
  flag,
  headerName,
  hostPairs,
  httpUrl,
  httpUrlOrOff,
  type Kind,
  milliseconds,
  oneOf,
  someOf,
  textMap,
} from "./variable-kinds.ts";

/** Most pool objects that the accounts may be spread over. */
export const MOST_SHARDS = 64;

/** The deployment's variables. Their names are fixed: documentation and tools rely on them. */
export interface Variables {
  /** `PROVIDER_DRIVER`: which protocol the upstream speaks; a driver's name or alias as stated, the first driver unless set. */
  readonly providerDriver: string;
  /** `PROVIDER_BASE_URL`, without a slash at its end; null: the sandbox, if there is one. */
  readonly providerBaseUrl: string | null;
  /** `PROVIDER_TOKEN`, "none" unless set: the API key for accounts without a token, where the driver needs one. */
  readonly providerToken: string;
  /** `PROVIDER_MODELS`, a JSON object: canonical id → the backend's model name, where it has its own. */
  readonly providerModels: Readonly<Record<string, string>>;
  /** `PROVIDER_TOOL_CALLS`, `native` unless set: tools passed through, or rendered as markup, if the driver can do both. */
  readonly providerToolCalls: "native" | "markup";
  /** `PROVIDER_WHOLE_ANSWERS`, true: answers that nobody wants streamed are asked for in one piece, if the driver can. */
  readonly providerWholeAnswers: boolean;
  /** `KEEP_ALIVE_MS`, 10,000 ms: a silent stream carries a keep-alive this often. */
  readonly keepAliveMs: number;
  /** `FIRST_BYTE_TIMEOUT_MS`, 120,000 ms: how long the upstream may stay silent before its first byte. */
  readonly firstByteTimeoutMs: number;
  /** `ANSWER_TIMEOUT_MS`, 600,000 ms: how long an attempt at a whole answer may take, and a stream may carry no content. */
  readonly answerTimeoutMs: number;
  /** `IDLE_TIMEOUT_MS`, 60,000 ms: how long the upstream may stay silent within a stream. */
  readonly idleTimeoutMs: number;
  /** `BODY_TIMEOUT_MS`, 60,000 ms: how long a client may take to send a body, and a second more for each 64 KiB that came. */
  readonly bodyTimeoutMs: number;
  /** `BODY_BUDGET_BYTES`, 88 MiB, and 256 MiB on Deno: the memory that bodies in flight may take in one isolate or process. */
  readonly bodyBudgetBytes: number;
  readonly kept: KeptLimits;
  /** `QUEUE_TIMEOUT_MS`, 60,000 ms: how long a request waits for an account. */
  readonly queueTimeoutMs: number;
  /** `POOL_SHARDS`, 1: how many pool objects share the accounts; Workers only. */
  readonly poolShards: number;
  /** `POOL_REGIONS`, none: where these are asked to run, in turn; Workers only. */
  readonly poolRegions: readonly Region[];
  /** `ADMIN_KEY`: the secret that opens the admin API; null: no admin login until it is set. */
  readonly adminKey: string | null;
  /** `GATEWAY_DEVELOPMENT`, false: an empty configuration starts with the development key and accounts. */
  readonly development: boolean;
  /**
   * `GATEWAY_SINGLE_PROCESS`, false: everything runs in this one process, as in development; who held a slot before it was
   * started has ended. Never to be set where requests run in several places.
   */
  readonly singleProcess: boolean;
  /** `GATEWAY_CONFIG_JSON`: the configuration as JSON or base64 of it, valid; null: the stored one. */
  readonly configJson: string | null;
  /** `GATEWAY_CONFIG_WRITEBACK`, false: edits of an environment-backed configuration are kept in storage. */
  readonly configWriteback: boolean;
  /** `RELEASES_URL`: answers the latest release as JSON; null: nobody is asked. */
  readonly releasesUrl: string | null;
  readonly hosting: HostingVariables;
  /** `CLIENT_ADDRESS_HEADER`: where a trusted proxy tells the client's address; null: the platform or the connection tells it. */
  readonly clientAddressHeader: string | null;
  /** `PAGE_RATE_LIMIT`, 100: page-service calls a minute for each client. */
  readonly pageRateLimit: number;
  /** `DNS_OVER_HTTPS_URL`: the resolver for DNS signals; null (`off`): there are none. */
  readonly dnsResolver: string | null;
  readonly pages: PageLimits;
  readonly process: ProcessVariables;
}

/** Credentials for the hosting sync, which come before saved ones. Null: not set. */
export interface HostingVariables {
  /** `VERCEL_TOKEN`. */
  readonly token: string | null;
  /** `VERCEL_PROJECT_ID`. */
  readonly projectId: string | null;
  /** `VERCEL_TEAM_ID`. */
  readonly teamId: string | null;
  /** `HOSTING_API_BASE_URL`, `https://api.vercel.com`: the hosting platform's REST API, no slash at its end. */
  readonly apiBaseUrl: string;
}

/** What is kept for one caller of stored responses, and of uploaded files; what came first goes first. */
export interface KeptLimits {
  /** `KEPT_CHARACTERS`, 64 Mi: characters of their JSON, all together. */
  readonly characters: number;
  /** `KEPT_OBJECTS`, 1,000. */
  readonly objects: number;
}

/** Limits of the page service; the defaults suit a paid plan of the platform with its 128 MB for an isolate. */
export interface PageLimits {
  /** `BROWSER_COUNT`, 1: browsers that run at one moment, each in an object of its own. */
  readonly browsers: number;
  /** `BROWSER_MAX_TABS`, 4: pages open at one moment in one browser. */
  readonly tabs: number;
  /** `BROWSER_QUEUE_LIMIT`, 50: requests that wait for a tab of one browser. */
  readonly queue: number;
  /** `BROWSER_QUEUE_TIMEOUT_MS`, 30,000 ms: how long a request waits for a tab. */
  readonly queueMs: number;
  /** `BROWSER_KEEP_ALIVE_MS`, 600,000 ms, which is the most: how long an idle browser is kept. */
  readonly keepAliveMs: number;
  /** `PAGE_NAVIGATION_TIMEOUT_MS`, 20,000 ms: how long a page may load before it is taken as it is. */
  readonly navigationMs: number;
  /** `PAGE_TOTAL_TIMEOUT_MS`, 40,000 ms: how long all in one tab may take, the caller's own delay not counted. */
  readonly totalMs: number;
  /** `PAGE_RESPONSE_TIMEOUT_MS`, 10,000 ms: how long a page may take to begin to arrive. */
  readonly commitMs: number;
  /** `PAGE_BUSY_TIMEOUT_MS`, 5,000 ms: how long a page's scripts may compute without a pause. */
  readonly blockedMs: number;
  /** `PAGE_MAX_REQUESTS`, 1,000: requests that one page may make. */
  readonly requests: number;
  /** `PAGE_MAX_BYTES`, 50,000,000: bytes that one page may load. */
  readonly bytes: number;
  /** `PAGE_MAX_HEIGHT`, 20,000: CSS pixels of a page that a full capture shows. */
  readonly pageHeight: number;
  /** `PAGE_PRIVATE_HOSTS`, none: `host:port` pairs that may be loaded from although they are private. */
  readonly privateHosts: ReadonlySet<string>;
}

/** What only a process of one's own reads (Deno). */
export interface ProcessVariables {
  /** `DATA_DIR`, "data": the folder of the state. */
  readonly dataFolder: string;
  /** `SHUTDOWN_TIMEOUT_MS`, 25,000 ms: how long a shutdown waits for streams. */
  readonly shutdownMs: number;
  /** `TOKEN_REFRESH_CHECK_MS`, 300,000 ms: how often old account tokens are looked for. */
  readonly refreshCheckMs: number;
  /** `BROWSER_EXECUTABLE`: the path of the browser to start; null: one is looked for. */
  readonly browserExecutable: string | null;
  /** `PATH`: the folders in which a browser is looked for, as the system separates them. */
  readonly searchPath: string;
}

/** A variable that cannot be used. The message is one sentence that names it and what it may be; it tells no secret. */
export class VariableError extends Error {
  override readonly name = "VariableError";
}

/** What {@link parseVariables} does not know itself. */
export interface VariableOptions {
  /** What `PROVIDER_DRIVER` may be. The first is the default. */
  readonly drivers: readonly string[];
  /** Earlier names of drivers → their names today. `PROVIDER_DRIVER` may be one of them, too. */
  readonly driverAliases?: ReadonlyMap<string, string>;
  /** The default of `BODY_BUDGET_BYTES`; what fits an isolate of 128 MB, unless given. */
  readonly bodyBudgetBytes?: number;
}

/** Holds the longest body of plain ASCII beside all that strangers may send, and leaves the program its own memory. */
const ISOLATE_BODY_BYTES = 88 * 1024 * 1024;

const anyText: Kind<string> = (text) => text;

const configJson: Kind<string> = (text) => {
  const fault = configJsonFault(text);
  return fault === null ? text : new Fault(`must be the configuration as JSON, or base64 of it: ${fault}`);
};

/** The text of a variable. Those of a Worker may be JSON values; what is not set is empty. */
function textOf(value: unknown): string {
  if (value === undefined || value === null) return "";
  return (typeof value === "string" ? value : JSON.stringify(value)).trim();
}

/**
 * Reads the deployment's variables from an environment (Workers' bindings or `Deno.env.toObject()`). One that is missing
 * or empty takes its default. Sources: docs/variables.md, docs/page-service.md and docs/deployment.md.
 *
 * @throws VariableError for the first one that is not what it may be
 */
export function parseVariables(env: Readonly<Record<string, unknown>>, options: VariableOptions): Variables {
  const {
    drivers,
    driverAliases = new Map<string, string>(),
    bodyBudgetBytes = ISOLATE_BODY_BYTES,
  } = options;
  function read<T, Unset>(name: string, kind: Kind<T>, unset: Unset): T | Unset {
    const text = textOf(env[name]);
    if (text === "") return unset;
    const value = kind(text);
    if (value instanceof Fault) throw new VariableError(`${name} ${value.said}`);
    return value;
  }
  const time = milliseconds();
  const amount = count();
  return {
    providerDriver: read("PROVIDER_DRIVER", oneOf(drivers, [...driverAliases.keys()]), drivers[0] ?? ""),
    providerBaseUrl: read("PROVIDER_BASE_URL", baseUrl, null),
    providerToken: read("PROVIDER_TOKEN", anyText, "none"),
    providerModels: read("PROVIDER_MODELS", textMap, {}),
    providerToolCalls: read("PROVIDER_TOOL_CALLS", oneOf(["native", "markup"]), "native"),
    providerWholeAnswers: read("PROVIDER_WHOLE_ANSWERS", flag, true),
    keepAliveMs: read("KEEP_ALIVE_MS", time, 10_000),
    firstByteTimeoutMs: read("FIRST_BYTE_TIMEOUT_MS", time, 120_000),
    answerTimeoutMs: read("ANSWER_TIMEOUT_MS", time, 600_000),
    idleTimeoutMs: read("IDLE_TIMEOUT_MS", time, 60_000),
    bodyTimeoutMs: read("BODY_TIMEOUT_MS", time, 60_000),
    bodyBudgetBytes: read("BODY_BUDGET_BYTES", amount, bodyBudgetBytes),
    kept: {
      characters: read("KEPT_CHARACTERS", amount, 64 * 1024 * 1024),
      objects: read("KEPT_OBJECTS", amount, 1_000),
    },
    queueTimeoutMs: read("QUEUE_TIMEOUT_MS", time, 60_000),
    poolShards: read("POOL_SHARDS", count(MOST_SHARDS), 1),
    poolRegions: read("POOL_REGIONS", someOf(REGIONS), []),
    adminKey: read("ADMIN_KEY", anyText, null),
    development: read("GATEWAY_DEVELOPMENT", flag, false),
    singleProcess: read("GATEWAY_SINGLE_PROCESS", flag, false),
    configJson: read("GATEWAY_CONFIG_JSON", configJson, null),
    configWriteback: read("GATEWAY_CONFIG_WRITEBACK", flag, false),
    releasesUrl: read("RELEASES_URL", httpUrl, null),
    hosting: {
      token: read("VERCEL_TOKEN", anyText, null),
      projectId: read("VERCEL_PROJECT_ID", anyText, null),
      teamId: read("VERCEL_TEAM_ID", anyText, null),
      apiBaseUrl: read("HOSTING_API_BASE_URL", baseUrl, "https://api.vercel.com"),
    },
    clientAddressHeader: read("CLIENT_ADDRESS_HEADER", headerName, null),
    pageRateLimit: read("PAGE_RATE_LIMIT", amount, 100),
    dnsResolver: read("DNS_OVER_HTTPS_URL", httpUrlOrOff, "https://cloudflare-dns.com/dns-query"),
    pages: {
      browsers: read("BROWSER_COUNT", amount, 1),
      tabs: read("BROWSER_MAX_TABS", amount, 4),
      queue: read("BROWSER_QUEUE_LIMIT", amount, 50),
      queueMs: read("BROWSER_QUEUE_TIMEOUT_MS", time, 30_000),
      // Cloudflare ends a browser that is idle for longer.
      keepAliveMs: read("BROWSER_KEEP_ALIVE_MS", milliseconds(600_000), 600_000),
      navigationMs: read("PAGE_NAVIGATION_TIMEOUT_MS", time, 20_000),
      totalMs: read("PAGE_TOTAL_TIMEOUT_MS", time, 40_000),
      commitMs: read("PAGE_RESPONSE_TIMEOUT_MS", time, 10_000),
      blockedMs: read("PAGE_BUSY_TIMEOUT_MS", time, 5_000),
      requests: read("PAGE_MAX_REQUESTS", amount, 1_000),
      bytes: read("PAGE_MAX_BYTES", amount, 50_000_000),
      pageHeight: read("PAGE_MAX_HEIGHT", amount, 20_000),
      privateHosts: read("PAGE_PRIVATE_HOSTS", hostPairs, new Set<string>()),
    },
    process: {
      dataFolder: read("DATA_DIR", anyText, "data"),
      shutdownMs: read("SHUTDOWN_TIMEOUT_MS", time, 25_000),
      refreshCheckMs: read("TOKEN_REFRESH_CHECK_MS", time, 300_000),
      browserExecutable: read("BROWSER_EXECUTABLE", anyText, null),
      searchPath: read("PATH", anyText, ""),
    },
  };
}
