import { upstreamNames } from "../config/provider-models.ts";
import type { Config, ProviderEntry } from "../config/schema.ts";
import { GatewayError } from "../errors/gateway-error.ts";
import type { Platform } from "../platform/platform.ts";
import type { Variables } from "../platform/variables.ts";
import { findDriver, getDriver, isSameDriver } from "./drivers.ts";
import type { Provider } from "./provider.ts";

/** For how long a provider may be silent, milliseconds. */
export type Patience = Pick<Variables, "firstByteTimeoutMs" | "answerTimeoutMs" | "idleTimeoutMs">;

/** A provider that requests may be sent to, and how that is done. */
export interface NamedProvider {
  /** Empty: the default one, which the deployment's variables name. */
  readonly id: string;
  readonly driver: string;
  readonly baseUrl: string;
  readonly api: Provider;
  readonly patience: Patience;
  /** The proxy of accounts that are bound to none; empty: there is none. */
  readonly proxyId: string;
  /** Sent with every request, beside those of the protocol. */
  readonly headers: Readonly<Record<string, string>>;
}

/** The providers of a platform that have been made, by id. */
class Registry {
  #default: NamedProvider | null = null;
  readonly #configured = new Map<string, { readonly entry: ProviderEntry; readonly made: NamedProvider }>();

  /** The one that the variables name; null when they name none. */
  own(platform: Platform): NamedProvider | null {
    const { variables, providerBaseUrl } = platform;
    if (providerBaseUrl === null) return null;
    this.#default ??= {
      id: "",
      driver: variables.providerDriver,
      baseUrl: providerBaseUrl,
      api: getDriver(variables.providerDriver).create({
        baseUrl: providerBaseUrl,
        token: variables.providerToken,
        models: variables.providerModels,
        toolCalls: variables.providerToolCalls,
        wholeAnswers: variables.providerWholeAnswers,
        newId,
        sleep,
      }),
      patience: variables,
      proxyId: "",
      headers: {},
    };
    return this.#default;
  }

  /** A configured one. It is made anew when its settings have changed: what it has learnt of its backend lives that long. */
  configured(platform: Platform, entry: ProviderEntry): NamedProvider {
    const known = this.#configured.get(entry.id);
    if (known !== undefined && (known.entry === entry || sameSettings(known.entry, entry))) return known.made;
    const made = providerOfEntry(platform.variables, entry);
    this.#configured.set(entry.id, { entry, made });
    return made;
  }

  /** Forgets what is configured no more. */
  keep(entries: readonly ProviderEntry[]): void {
    if (this.#configured.size <= entries.length) return;
    const ids = new Set(entries.map(({ id }) => id));
    for (const id of this.#configured.keys()) if (!ids.has(id)) this.#configured.delete(id);
  }
}

/** Whether what is said to one of them reaches the other, in the same way: a secret of the one is none to the other. */
export function sameParty(one: NamedProvider, other: NamedProvider): boolean {
  return (
    one === other ||
    (one.id === other.id &&
      isSameDriver(one.driver, other.driver) &&
      one.baseUrl === other.baseUrl &&
      one.proxyId === other.proxyId)
  );
}

function sameSettings(one: ProviderEntry, other: ProviderEntry): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

function providerOfEntry(variables: Variables, entry: ProviderEntry): NamedProvider {
  const { id, driver, base_url: baseUrl, token, proxy_id: proxyId, headers } = entry;
  const found = findDriver(driver);
  if (found === undefined) {
    throw unavailable(`the provider ${JSON.stringify(id)} has a driver that does not exist`);
  }
  const { tool_calls: toolCalls, whole_answers: wholeAnswers } = entry;
  return {
    id,
    driver,
    baseUrl,
    api: found.create({
      baseUrl,
      token: token || "none",
      models: upstreamNames(entry),
      toolCalls,
      wholeAnswers,
      newId,
      sleep,
    }),
    patience: {
      firstByteTimeoutMs: entry.first_byte_timeout_ms || variables.firstByteTimeoutMs,
      answerTimeoutMs: entry.answer_timeout_ms || variables.answerTimeoutMs,
      idleTimeoutMs: entry.idle_timeout_ms || variables.idleTimeoutMs,
    },
    proxyId,
    headers,
  };
}

const registries = new WeakMap<Platform, Registry>();

function registryOf(platform: Platform): Registry {
  let registry = registries.get(platform);
  if (registry === undefined) {
    registry = new Registry();
    registries.set(platform, registry);
  }
  return registry;
}

/**
 * The provider of an id, made once for each of its settings; without an id the default one.
 *
 * @throws GatewayError 503 for one that is not configured or not enabled, and where there is no default one.
 */
export function providerNamed(platform: Platform, config: Pick<Config, "providers">, id = ""): NamedProvider {
  if (id === "") return ownProvider(platform);
  const entry = config.providers.find((provider) => provider.id === id);
  if (entry === undefined) throw unavailable(`the provider ${JSON.stringify(id)} does not exist`);
  if (!entry.enabled) throw unavailable(`the provider ${JSON.stringify(id)} is switched off`);
  const registry = registryOf(platform);
  registry.keep(config.providers);
  return registry.configured(platform, entry);
}

/** The default provider; throws 503 where there is none. */
export function ownProvider(platform: Platform): NamedProvider {
  const provider = registryOf(platform).own(platform);
  if (provider !== null) return provider;
  throw unavailable("no provider is configured: set PROVIDER_BASE_URL");
}

/** The platform's default provider, made once; null when the deployment names none. */
export function configuredProvider(platform: Platform): Provider | null {
  return registryOf(platform).own(platform)?.api ?? null;
}

/** The same for a request that needs one. Throws 503. */
export function providerOf(platform: Platform): Provider {
  return ownProvider(platform).api;
}

function unavailable(why: string): GatewayError {
  return new GatewayError(503, why, { code: "upstream_unavailable" });
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
