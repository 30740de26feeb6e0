import { describeConfigJsonFault } from "../config/initial-config.ts";
import { REGIONS } from "../config/regions.ts";
import { AFFINITY_WAIT_MS, SELECTION_STRATEGIES } from "../config/selection-strategy.ts";
import { readTelemetryVariables } from "./telemetry-variables.ts";
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
import { MAX_SHARDS, type Variables } from "./variables.ts";

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
