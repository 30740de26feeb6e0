import { describeConfigJsonFault } from "../config/initial-config.ts";
import {
  AFFINITY_WAIT_MS,
  SELECTION_STRATEGIES,
  type SelectionStrategy,
} from "../config/selection-strategy.ts";
import { REGIONS, type Region } from "./regions.ts";
import { readTelemetryVariables, type TelemetryVariables } from "./telemetry-variables.ts";
import {
  baseUrl,
  booleanFlag,
  headerName,
  hostAndPortSet,
  httpUrl,
  httpUrlOrOff,
  listOf,
  memberNames,
  milliseconds,
  oneOf,
  positiveInteger,
  textMap,
  VariableFault,
  type VariableParser,
} from "./variable-parsers.ts";

/** The maximum number of pool shards. */
export const MAX_SHARDS = 64;

/** The deployment's environment variables. Their names are fixed: documentation and tools rely on them. */
export interface Variables {
  /** `PROVIDER_DRIVER`: the upstream's protocol, a name or alias of a driver as stated. Default: the first driver. */
  readonly providerDriver: string;
  /** `PROVIDER_BASE_URL`, without a trailing slash; null: the sandbox, if there is one. */
  readonly providerBaseUrl: string | null;
  /** `PROVIDER_TOKEN`, default "none": the API key of accounts without a token, for drivers that need one. */
  readonly providerToken: string;
  /** `PROVIDER_MODELS`, a JSON object: canonical id → the backend's model name, where they differ. */
  readonly providerModels: Readonly<Record<string, string>>;
  /**
   * `PROVIDER_TOOL_CALLS`, default `native`: pass tools through, or render them as markup, if the driver supports both.
   */
  readonly providerToolCalls: "native" | "markup";
  /**
   * `PROVIDER_WHOLE_ANSWERS`, default true: request non-streamed answers from the provider whole, if the driver
   * supports it.
   */
  readonly providerWholeAnswers: boolean;
  /** `PROVIDER_NATIVE`, default true: send requests in the provider's own protocol as the caller wrote them. */
  readonly providerNative: boolean;
  /** `PROVIDER_DROP_PARAMS`, none: members of requests that the provider never gets, comma-separated. */
  readonly providerDropParams: readonly string[];
  /** `PROVIDER_STRATEGY`, the driver's default: how the pool selects accounts of the default provider; null: as the driver. */
  readonly providerStrategy: SelectionStrategy | null;
  /** `PROVIDER_AFFINITY_WAIT_MS`, 500 ms: how long a turn of a conversation waits for the conversation's busy account. */
  readonly providerAffinityWaitMs: number;
  /** `PROVIDER_TRACE_CONTEXT`, false: the default provider gets `traceparent` of the request's trace. */
  readonly providerTraceContext: boolean;
  /** `PROVIDER_PIPE_STREAMS`, false: the runtime passes native streams of the default provider on by itself, where it can. */
  readonly providerPipeStreams: boolean;
  /** `KEEP_ALIVE_MS`, 10,000 ms: interval of keep-alives in a silent stream. */
  readonly keepAliveMs: number;
  /** `FIRST_BYTE_TIMEOUT_MS`, 120,000 ms: maximum time until the upstream's first byte. */
  readonly firstByteTimeoutMs: number;
  /** `ANSWER_TIMEOUT_MS`, 600,000 ms: maximum time of an attempt at a whole answer, and of a stream without content. */
  readonly answerTimeoutMs: number;
  /** `IDLE_TIMEOUT_MS`, 60,000 ms: maximum silence of the upstream within a stream. */
  readonly idleTimeoutMs: number;
  /** `BODY_TIMEOUT_MS`, 60,000 ms: maximum time for a client to send a body, plus one second for each 64 KiB received. */
  readonly bodyTimeoutMs: number;
  /** `BODY_BUDGET_BYTES`, 88 MiB, on Deno 256 MiB: maximum memory for request bodies in one isolate or process. */
  readonly bodyBudgetBytes: number;
  readonly storedObjectLimits: StoredObjectLimits;
  /** `QUEUE_TIMEOUT_MS`, 60,000 ms: maximum wait for an account. */
  readonly queueTimeoutMs: number;
  /** `POOL_SHARDS`, 1: number of pool objects that share the accounts; Workers only. */
  readonly poolShards: number;
  /** `POOL_REGIONS`, none: location hints of the pool objects, assigned in turn; Workers only. */
  readonly poolRegions: readonly Region[];
  /** `ADMIN_KEY`: the secret of the admin API; null: no admin login until it is set. */
  readonly adminKey: string | null;
  /** `GATEWAY_DEVELOPMENT`, false: an empty configuration starts with the development key and accounts. */
  readonly development: boolean;
  /**
   * `GATEWAY_SINGLE_PROCESS`, false: everything runs in this one process, as in development. So every lease from before
   * its start has ended. Never set it if requests run in several places.
   */
  readonly singleProcess: boolean;
  /** `GATEWAY_CONFIG_JSON`: the configuration as valid JSON, or base64 of it; null: use the stored configuration. */
  readonly configJson: string | null;
  /** `GATEWAY_CONFIG_WRITEBACK`, false: store edits of a configuration that came from the environment. */
  readonly configWriteback: boolean;
  /** `RELEASES_URL`: returns the latest release as JSON; null: no check for releases. */
  readonly releasesUrl: string | null;
  readonly hosting: HostingVariables;
  /**
   * `CLIENT_ADDRESS_HEADER`: the header in which a trusted proxy sends the client's address; null: take it from the
   * platform or the connection.
   */
  readonly clientAddressHeader: string | null;
  /** `DELIVERY_PRIVATE_HOSTS`, none: private `host:port` pairs that results of page jobs may be sent to. */
  readonly deliveryPrivateHosts: ReadonlySet<string>;
  /** `PAGE_RATE_LIMIT`, 100: page-service calls a minute for each client. */
  readonly pageRateLimit: number;
  /** `DNS_OVER_HTTPS_URL`: the resolver for DNS signals; null (`off`): no DNS signals. */
  readonly dnsResolver: string | null;
  /** Where traces and metrics are sent (`OTEL_…`); null: nowhere. */
  readonly telemetry: TelemetryVariables | null;
  readonly pages: PageLimits;
  readonly process: ProcessVariables;
}

/** Credentials for the hosting sync. They take precedence over saved ones. Null: not set. */
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

/** Storage limits of one caller, for stored responses and separately for uploaded files. The oldest are evicted first. */
export interface StoredObjectLimits {
  /** `KEPT_CHARACTERS`, 64 Mi: total characters of the objects' JSON. */
  readonly characters: number;
  /** `KEPT_OBJECTS`, 1,000: number of objects. */
  readonly objects: number;
}

/** Limits of the page service. The defaults suit a paid plan of the platform, with its 128 MB per isolate. */
export interface PageLimits {
  /** `BROWSER_COUNT`, 1: maximum number of browsers at once, each in its own Durable Object. */
  readonly browsers: number;
  /** `BROWSER_MAX_TABS`, 4: maximum open pages per browser. */
  readonly tabs: number;
  /** `BROWSER_QUEUE_LIMIT`, 50: maximum requests that wait for a tab of one browser. */
  readonly queue: number;
  /** `BROWSER_QUEUE_TIMEOUT_MS`, 30,000 ms: maximum wait for a tab. */
  readonly queueMs: number;
  /** `BROWSER_KEEP_ALIVE_MS`, 600,000 ms (also the maximum): how long an idle browser stays open. */
  readonly keepAliveMs: number;
  /** `PAGE_NAVIGATION_TIMEOUT_MS`, 20,000 ms: maximum load time; then the page is captured as it is. */
  readonly navigationMs: number;
  /** `PAGE_TOTAL_TIMEOUT_MS`, 40,000 ms: maximum total time in a tab, without the caller's own delay. */
  readonly totalMs: number;
  /** `PAGE_RESPONSE_TIMEOUT_MS`, 10,000 ms: maximum time until a page begins to arrive. */
  readonly responseStartMs: number;
  /** `PAGE_BUSY_TIMEOUT_MS`, 5,000 ms: maximum time that a page's scripts may run without a pause. */
  readonly maxBlockedMs: number;
  /** `PAGE_MAX_REQUESTS`, 1,000: maximum requests of one page. */
  readonly requests: number;
  /** `PAGE_MAX_BYTES`, 50,000,000: maximum bytes that one page may load. */
  readonly bytes: number;
  /** `PAGE_MAX_HEIGHT`, 20,000: maximum height of a full-page capture, CSS pixels. */
  readonly pageHeight: number;
  /** `PAGE_PRIVATE_HOSTS`, none: private `host:port` pairs that pages may load from. */
  readonly privateHosts: ReadonlySet<string>;
}

/** Variables for a deployment as a process (Deno) only. */
export interface ProcessVariables {
  /** `DATA_DIR`, "data": the folder for state. */
  readonly dataFolder: string;
  /** `SHUTDOWN_TIMEOUT_MS`, 25,000 ms: maximum wait for open streams during a shutdown. */
  readonly shutdownMs: number;
  /** `TOKEN_REFRESH_CHECK_MS`, 300,000 ms: interval of the check for old account tokens. */
  readonly refreshCheckMs: number;
  /** `BROWSER_EXECUTABLE`: the path of the browser to start; null: search for one. */
  readonly browserExecutable: string | null;
  /** `PATH`: the folders to search for a browser, with the system's separator. */
  readonly searchPath: string;
}

/** An invalid variable. The message is one sentence with its name and the allowed values. It contains no secret. */
export class VariableError extends Error {
  override readonly name = "VariableError";
}

/** Inputs of {@link parseVariables} that differ by deployment. */
export interface VariableOptions {
  /** The allowed values of `PROVIDER_DRIVER`. The first is the default. */
  readonly drivers: readonly string[];
  /** Earlier names of drivers → current names. `PROVIDER_DRIVER` accepts both. */
  readonly driverAliases?: ReadonlyMap<string, string>;
  /** The default of `BODY_BUDGET_BYTES`. Absent: a size for an isolate of 128 MB. */
  readonly bodyBudgetBytes?: number;
}

/**
 * Enough for the largest plain-ASCII body in addition to all bodies that unverified callers may send. Leaves memory for
 * the program.
 */
const ISOLATE_BODY_BYTES = 88 * 1024 * 1024;

const anyText: VariableParser<string> = (text) => text;

const parseConfigJson: VariableParser<string> = (text) => {
  const fault = describeConfigJsonFault(text);
  return fault === null
    ? text
    : new VariableFault(`must be the configuration as JSON, or base64 of it: ${fault}`);
};

/** The text of a variable, empty if not set. Workers variables may be JSON values. */
function variableText(value: unknown): string {
  if (value === undefined || value === null) return "";
  return (typeof value === "string" ? value : JSON.stringify(value)).trim();
}

/**
 * Parses the deployment's variables from an environment (Workers' bindings or the environment of Deno). A missing or
 * empty variable gets its default. Sources: docs/variables.md, docs/page-service.md and docs/deployment.md.
 *
 * @throws VariableError for the first invalid variable
 */
export function parseVariables(env: Readonly<Record<string, unknown>>, options: VariableOptions): Variables {
  const {
    drivers,
    driverAliases = new Map<string, string>(),
    bodyBudgetBytes = ISOLATE_BODY_BYTES,
  } = options;
  function read<T, Unset>(name: string, parse: VariableParser<T>, defaultValue: Unset): T | Unset {
    const text = variableText(env[name]);
    if (text === "") return defaultValue;
    const value = parse(text);
    if (value instanceof VariableFault) throw new VariableError(`${name} ${value.problem}`);
    return value;
  }
  const time = milliseconds();
  const amount = positiveInteger();
  return {
    providerDriver: read("PROVIDER_DRIVER", oneOf(drivers, [...driverAliases.keys()]), drivers[0] ?? ""),
    providerBaseUrl: read("PROVIDER_BASE_URL", baseUrl, null),
    providerToken: read("PROVIDER_TOKEN", anyText, "none"),
    providerModels: read("PROVIDER_MODELS", textMap, {}),
    providerToolCalls: read("PROVIDER_TOOL_CALLS", oneOf(["native", "markup"]), "native"),
    providerWholeAnswers: read("PROVIDER_WHOLE_ANSWERS", booleanFlag, true),
    providerNative: read("PROVIDER_NATIVE", booleanFlag, true),
    providerDropParams: read("PROVIDER_DROP_PARAMS", memberNames, []),
    providerStrategy: read("PROVIDER_STRATEGY", oneOf(SELECTION_STRATEGIES), null),
    providerAffinityWaitMs: read("PROVIDER_AFFINITY_WAIT_MS", milliseconds(60_000), AFFINITY_WAIT_MS),
    providerTraceContext: read("PROVIDER_TRACE_CONTEXT", booleanFlag, false),
    providerPipeStreams: read("PROVIDER_PIPE_STREAMS", booleanFlag, false),
    keepAliveMs: read("KEEP_ALIVE_MS", time, 10_000),
    firstByteTimeoutMs: read("FIRST_BYTE_TIMEOUT_MS", time, 120_000),
    answerTimeoutMs: read("ANSWER_TIMEOUT_MS", time, 600_000),
    idleTimeoutMs: read("IDLE_TIMEOUT_MS", time, 60_000),
    bodyTimeoutMs: read("BODY_TIMEOUT_MS", time, 60_000),
    bodyBudgetBytes: read("BODY_BUDGET_BYTES", amount, bodyBudgetBytes),
    storedObjectLimits: {
      characters: read("KEPT_CHARACTERS", amount, 64 * 1024 * 1024),
      objects: read("KEPT_OBJECTS", amount, 1_000),
    },
    queueTimeoutMs: read("QUEUE_TIMEOUT_MS", time, 60_000),
    poolShards: read("POOL_SHARDS", positiveInteger(MAX_SHARDS), 1),
    poolRegions: read("POOL_REGIONS", listOf(REGIONS), []),
    adminKey: read("ADMIN_KEY", anyText, null),
    development: read("GATEWAY_DEVELOPMENT", booleanFlag, false),
    singleProcess: read("GATEWAY_SINGLE_PROCESS", booleanFlag, false),
    configJson: read("GATEWAY_CONFIG_JSON", parseConfigJson, null),
    configWriteback: read("GATEWAY_CONFIG_WRITEBACK", booleanFlag, false),
    releasesUrl: read("RELEASES_URL", httpUrl, null),
    hosting: {
      token: read("VERCEL_TOKEN", anyText, null),
      projectId: read("VERCEL_PROJECT_ID", anyText, null),
      teamId: read("VERCEL_TEAM_ID", anyText, null),
      apiBaseUrl: read("HOSTING_API_BASE_URL", baseUrl, "https://api.vercel.com"),
    },
    clientAddressHeader: read("CLIENT_ADDRESS_HEADER", headerName, null),
    deliveryPrivateHosts: read("DELIVERY_PRIVATE_HOSTS", hostAndPortSet, new Set<string>()),
    pageRateLimit: read("PAGE_RATE_LIMIT", amount, 100),
    dnsResolver: read("DNS_OVER_HTTPS_URL", httpUrlOrOff, "https://cloudflare-dns.com/dns-query"),
    telemetry: readTelemetryVariables(read),
    pages: {
      browsers: read("BROWSER_COUNT", amount, 1),
      tabs: read("BROWSER_MAX_TABS", amount, 4),
      queue: read("BROWSER_QUEUE_LIMIT", amount, 50),
      queueMs: read("BROWSER_QUEUE_TIMEOUT_MS", time, 30_000),
      // Cloudflare closes browsers that are idle for longer.
      keepAliveMs: read("BROWSER_KEEP_ALIVE_MS", milliseconds(600_000), 600_000),
      navigationMs: read("PAGE_NAVIGATION_TIMEOUT_MS", time, 20_000),
      totalMs: read("PAGE_TOTAL_TIMEOUT_MS", time, 40_000),
      responseStartMs: read("PAGE_RESPONSE_TIMEOUT_MS", time, 10_000),
      maxBlockedMs: read("PAGE_BUSY_TIMEOUT_MS", time, 5_000),
      requests: read("PAGE_MAX_REQUESTS", amount, 1_000),
      bytes: read("PAGE_MAX_BYTES", amount, 50_000_000),
      pageHeight: read("PAGE_MAX_HEIGHT", amount, 20_000),
      privateHosts: read("PAGE_PRIVATE_HOSTS", hostAndPortSet, new Set<string>()),
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

/**
 * Rejects a driver that needs an address and has none. The sandbox would answer instead, but it speaks only the protocol of
 * the first driver.
 *
 * @throws VariableError
 */
export function assertProviderAddress(
  { providerDriver, providerBaseUrl }: Pick<Variables, "providerDriver" | "providerBaseUrl">,
  [sandboxDriver]: readonly string[],
): void {
  if (providerBaseUrl !== null || providerDriver === sandboxDriver) return;
  throw new VariableError(
    `PROVIDER_BASE_URL is missing: with PROVIDER_DRIVER ${providerDriver} it must be the provider's address`,
  );
}
