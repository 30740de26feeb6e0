import { PLACEHOLDER_TOKEN } from "../../core/config/provider-id.ts";
import { mapUpstreamNames } from "../../core/config/provider-models.ts";
import type { Config } from "../../core/config/schema.ts";
import type { ProviderEntry } from "../../core/config/schemas/provider-schema.ts";
import type { SelectionStrategy } from "../../core/config/selection-strategy.ts";
import { oncePer } from "../../core/encoding/once.ts";
import { GatewayError } from "../../core/errors/gateway-error.ts";
import type { Platform } from "../../core/ports/platform.ts";
import type { Variables } from "../../core/variables/variables.ts";
import { findDriver, getDriver, isSameDriver, selectStrategy } from "./drivers.ts";
import type { Provider } from "./provider.ts";

/** The timeouts of a provider, milliseconds. */
export type ProviderTimeouts = Pick<Variables, "firstByteTimeoutMs" | "answerTimeoutMs" | "idleTimeoutMs">;

/** A provider that can serve requests, with its connection settings. */
export interface RegisteredProvider {
  /** Empty for the default provider, which the deployment's variables define. */
  readonly id: string;
  readonly driver: string;
  readonly baseUrl: string;
  readonly api: Provider;
  readonly timeouts: ProviderTimeouts;
  /** The proxy of accounts without a proxy of their own. Empty: none. */
  readonly proxyId: string;
  /** Sent with every request, in addition to the headers of the protocol. */
  readonly headers: Readonly<Record<string, string>>;
  /** How the pool selects its accounts. */
  readonly strategy: SelectionStrategy;
  /** How long a continued conversation waits for its account, milliseconds. */
  readonly affinityWaitMs: number;
  /** The query parameter `api-version` of every request. Empty: none. */
  readonly apiVersion: string;
  /** The header that carries the API key. Empty: the protocol's own. */
  readonly keyHeader: string;
  /** Whether its requests carry `traceparent`. */
  readonly traceContext: boolean;
  /** Whether the runtime may pass its native streams on by itself: then nothing masks credentials in their error events. */
  readonly pipeStreams: boolean;
}

/** Caches the created providers of one platform by id. */
class Registry {
  #default: RegisteredProvider | null = null;
  readonly #configured = new Map<
    string,
    { readonly entry: ProviderEntry; readonly provider: RegisteredProvider }
  >();

  /** Returns the default provider from the deployment's variables, or null if they define none. */
  findDefault(platform: Platform): RegisteredProvider | null {
    const { variables, providerBaseUrl } = platform;
    if (providerBaseUrl === null) return null;
    this.#default ??= createDefaultProvider(variables, providerBaseUrl);
    return this.#default;
  }

  /**
   * Returns a configured provider. Creates it again when its settings have changed; that discards what it has learnt
   * of its backend.
   */
  getOrCreate(platform: Platform, entry: ProviderEntry): RegisteredProvider {
    const known = this.#configured.get(entry.id);
    if (known !== undefined && (known.entry === entry || hasSameSettings(known.entry, entry)))
      return known.provider;
    const provider = createConfiguredProvider(platform.variables, entry);
    this.#configured.set(entry.id, { entry, provider });
    return provider;
  }

  /** Removes providers that are no longer configured. */
  removeUnconfigured(entries: readonly ProviderEntry[]): void {
    if (this.#configured.size <= entries.length) return;
    const ids = new Set(entries.map(({ id }) => id));
    for (const id of this.#configured.keys()) if (!ids.has(id)) this.#configured.delete(id);
  }
}

/** Whether requests to both providers reach the same backend in the same way, so that both may see the same secrets. */
export function isSameEndpoint(left: RegisteredProvider, right: RegisteredProvider): boolean {
  return (
    left === right ||
    (left.id === right.id &&
      isSameDriver(left.driver, right.driver) &&
      left.baseUrl === right.baseUrl &&
      left.proxyId === right.proxyId)
  );
}

function hasSameSettings(left: ProviderEntry, right: ProviderEntry): boolean {
  return JSON.stringify(left) === JSON.stringify(right);
}

/** Creates the provider that the deployment's variables define. */
function createDefaultProvider(variables: Variables, baseUrl: string): RegisteredProvider {
  return {
    id: "",
    driver: variables.providerDriver,
    baseUrl,
    api: getDriver(variables.providerDriver).create({
      baseUrl,
      token: variables.providerToken,
      models: variables.providerModels,
      toolCalls: variables.providerToolCalls,
      wholeAnswers: variables.providerWholeAnswers,
      native: variables.providerNative,
      dropParams: variables.providerDropParams,
      newId,
      sleep,
    }),
    timeouts: variables,
    proxyId: "",
    headers: {},
    strategy: selectStrategy(variables.providerDriver, variables.providerStrategy ?? undefined),
    affinityWaitMs: variables.providerAffinityWaitMs,
    apiVersion: "",
    keyHeader: "",
    traceContext: variables.providerTraceContext,
    pipeStreams: variables.providerPipeStreams,
  };
}

function createConfiguredProvider(variables: Variables, entry: ProviderEntry): RegisteredProvider {
  const { id, driver, base_url: baseUrl, token, proxy_id: proxyId, headers } = entry;
  const driverEntry = findDriver(driver);
  if (driverEntry === undefined) {
    throw unavailableError(`the provider ${JSON.stringify(id)} has a driver that does not exist`);
  }
  const { tool_calls: toolCalls, whole_answers: wholeAnswers, native, drop_params: dropParams } = entry;
  const { api_version: apiVersion, key_header: keyHeader } = entry;
  return {
    id,
    driver,
    baseUrl,
    api: driverEntry.create({
      baseUrl,
      token: token || PLACEHOLDER_TOKEN,
      models: mapUpstreamNames(entry),
      toolCalls,
      wholeAnswers,
      native,
      dropParams,
      keyHeader,
      newId,
      sleep,
    }),
    timeouts: {
      firstByteTimeoutMs: entry.first_byte_timeout_ms || variables.firstByteTimeoutMs,
      answerTimeoutMs: entry.answer_timeout_ms || variables.answerTimeoutMs,
      idleTimeoutMs: entry.idle_timeout_ms || variables.idleTimeoutMs,
    },
    proxyId,
    headers,
    strategy: selectStrategy(driver, entry.strategy),
    affinityWaitMs: entry.affinity_wait_ms,
    apiVersion,
    keyHeader,
    traceContext: entry.trace_context === true,
    pipeStreams: entry.pipe_streams === true,
  };
}

const getRegistry = oncePer((_: Platform) => new Registry());

/**
 * Returns the provider with this id, or the default provider without an id. Creates each provider once per version of
 * its settings.
 *
 * @throws GatewayError 503 for an id that is not configured or not enabled, and if there is no default provider.
 */
export function getProvider(
  platform: Platform,
  config: Pick<Config, "providers">,
  id = "",
): RegisteredProvider {
  if (id === "") return getDefaultProvider(platform);
  const entry = config.providers.find((provider) => provider.id === id);
  if (entry === undefined) throw unavailableError(`the provider ${JSON.stringify(id)} does not exist`);
  if (!entry.enabled) throw unavailableError(`the provider ${JSON.stringify(id)} is switched off`);
  const registry = getRegistry(platform);
  registry.removeUnconfigured(config.providers);
  return registry.getOrCreate(platform, entry);
}

/** Returns the driver's provider for an id, without failing: null if it is not configured or not enabled. */
export function findProviderApi(
  platform: Platform,
  config: Pick<Config, "providers">,
  id = "",
): Provider | null {
  if (id === "") return findDefaultProviderApi(platform);
  try {
    return getProvider(platform, config, id).api;
  } catch {
    return null;
  }
}

/** The driver of a provider as it would be at another address. Nothing is registered. `id` empty: the default provider. */
export function createApiAt(
  { variables }: Pick<Platform, "variables">,
  { providers }: Pick<Config, "providers">,
  id: string,
  baseUrl: string,
): Provider {
  const entry = providers.find((provider) => provider.id === id);
  return entry === undefined
    ? createDefaultProvider(variables, baseUrl).api
    : createConfiguredProvider(variables, { ...entry, base_url: baseUrl }).api;
}

/** Returns the default provider. Throws a `GatewayError` 503 if there is none. */
export function getDefaultProvider(platform: Platform): RegisteredProvider {
  const provider = getRegistry(platform).findDefault(platform);
  if (provider !== null) return provider;
  throw unavailableError(
    "no default provider is configured: set PROVIDER_BASE_URL, or request a model as provider/model",
  );
}

/** Returns the driver of the default provider, or null if the deployment defines none. */
export function findDefaultProviderApi(platform: Platform): Provider | null {
  return getRegistry(platform).findDefault(platform)?.api ?? null;
}

function unavailableError(message: string): GatewayError {
  return new GatewayError(503, message, { code: "upstream_unavailable" });
}

const newId = () => crypto.randomUUID();

function sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      reject(signal.reason);
      return;
    }
    const stop = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", stop);
      resolve();
    }, milliseconds);
    signal.addEventListener("abort", stop, { once: true });
  });
}
