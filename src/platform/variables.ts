/**
 * The deployment's variables, read once an isolate. Their names are fixed: documentation and tools rely on them. A
 * variable that is missing or unusable takes its default.
 */
export interface Settings {
  /** `PROVIDER_DRIVER`: which protocol the upstream speaks. */
  readonly providerDriver: "sessions" | "openai";
  /** `PROVIDER_BASE_URL`, without a trailing slash; null: the sandbox binding, if there is one. */
  readonly providerBaseUrl: string | null;
  /** `PROVIDER_TOKEN`: the backend's API key for accounts that have no token of their own (`openai` driver). */
  readonly providerToken: string;
  /** `PROVIDER_MODELS`: canonical id → the backend's model name. */
  readonly providerModels: Readonly<Record<string, string>>;
  /** `PROVIDER_TOOL_CALLS`: tools passed through, or rendered as markup (`openai` driver). */
  readonly providerToolCalls: "native" | "markup";
  /** `KEEP_ALIVE_MS`: a silent stream carries a keep-alive this often. */
  readonly keepAliveMs: number;
  /** `FIRST_BYTE_TIMEOUT_MS`: how long the upstream may stay silent before its first byte. */
  readonly firstByteTimeoutMs: number;
  /** `IDLE_TIMEOUT_MS`: how long the upstream may stay silent within a stream. */
  readonly idleTimeoutMs: number;
  /** `QUEUE_TIMEOUT_MS`: how long a request waits for an account. */
  readonly queueTimeoutMs: number;
  /** `ADMIN_KEY`: the secret that opens the admin API; null: no admin login until it is set. */
  readonly adminKey: string | null;
  /** `GATEWAY_DEVELOPMENT`: an empty configuration starts with the development key and accounts. */
  readonly development: boolean;
  /** `GATEWAY_CONFIG_JSON`: the configuration as JSON or base64 of it; null: the stored one. */
  readonly configJson: string | null;
  /** `GATEWAY_CONFIG_WRITEBACK`: edits of an environment-backed configuration are kept in storage. */
  readonly configWriteback: boolean;
  /** `PAGE_PRIVATE_HOSTS`: `host:port` pairs that the page service may load although private. */
  readonly pagePrivateHosts: ReadonlySet<string>;
  /** `PAGE_RATE_LIMIT`: page-service calls a minute for each client. */
  readonly pageRateLimit: number;
  /** `BROWSER_MAX_TABS`: tabs open at one moment in one browser. */
  readonly browserMaxTabs: number;
  /** All variables that are strings, for parts with settings of their own. */
  readonly variables: Readonly<Record<string, string>>;
}

function text(value: unknown): string | null {
  return typeof value === "string" && value.trim() !== "" ? value.trim() : null;
}

function positive(value: unknown, fallback: number): number {
  const number = Number(text(value) ?? Number.NaN);
  return Number.isFinite(number) && number > 0 ? number : fallback;
}

function flag(value: unknown): boolean {
  return ["1", "true", "yes", "on"].includes((text(value) ?? "").toLowerCase());
}

function stringMap(value: unknown): Record<string, string> {
  const source = text(value);
  if (source === null) return {};
  try {
    const parsed: unknown = JSON.parse(source);
    if (typeof parsed !== "object" || parsed === null) return {};
    return Object.fromEntries(
      Object.entries(parsed).flatMap(([key, name]) => (typeof name === "string" ? [[key, name]] : [])),
    );
  } catch {
    return {};
  }
}

/** Reads the deployment variables from an environment object (Workers bindings or `Deno.env.toObject()`). */
export function readSettings(env: Readonly<Record<string, unknown>>): Settings {
  const variables: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) if (typeof value === "string") variables[name] = value;
  return {
    providerDriver: text(env["PROVIDER_DRIVER"]) === "openai" ? "openai" : "sessions",
    providerBaseUrl: text(env["PROVIDER_BASE_URL"])?.replace(/\/+$/, "") ?? null,
    providerToken: text(env["PROVIDER_TOKEN"]) ?? "none",
    providerModels: stringMap(env["PROVIDER_MODELS"]),
    providerToolCalls: text(env["PROVIDER_TOOL_CALLS"]) === "markup" ? "markup" : "native",
    keepAliveMs: positive(env["KEEP_ALIVE_MS"], 10_000),
    firstByteTimeoutMs: positive(env["FIRST_BYTE_TIMEOUT_MS"], 120_000),
    idleTimeoutMs: positive(env["IDLE_TIMEOUT_MS"], 60_000),
    queueTimeoutMs: positive(env["QUEUE_TIMEOUT_MS"], 60_000),
    adminKey: text(env["ADMIN_KEY"]),
    development: flag(env["GATEWAY_DEVELOPMENT"]),
    configJson: text(env["GATEWAY_CONFIG_JSON"]),
    configWriteback: flag(env["GATEWAY_CONFIG_WRITEBACK"]),
    pagePrivateHosts: new Set(
      (text(env["PAGE_PRIVATE_HOSTS"]) ?? "")
        .split(",")
        .map((host) => host.trim().toLowerCase())
        .filter(Boolean),
    ),
    pageRateLimit: positive(env["PAGE_RATE_LIMIT"], 100),
    browserMaxTabs: positive(env["BROWSER_MAX_TABS"], 4),
    variables,
  };
}
