import type { Region } from "../config/regions.ts";
import type { SelectionStrategy } from "../config/selection-strategy.ts";
import type { TelemetryVariables } from "./telemetry-variables.ts";

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
  /**
   * `PROVIDER_STRATEGY`, the driver's default: how the pool selects accounts of the default provider;
   * null: as the driver.
   */
  readonly providerStrategy: SelectionStrategy | null;
  /** `PROVIDER_AFFINITY_WAIT_MS`, 500 ms: how long a turn of a conversation waits for the conversation's busy account. */
  readonly providerAffinityWaitMs: number;
  /** `PROVIDER_TRACE_CONTEXT`, false: the default provider gets `traceparent` of the request's trace. */
  readonly providerTraceContext: boolean;
  /**
   * `PROVIDER_PIPE_STREAMS`, false: the runtime passes native streams of the default provider
   * on by itself, where it can.
   */
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
