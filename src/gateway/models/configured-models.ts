import { readModelRoute } from "../../core/config/model-route.ts";
import { DEFAULT_PROVIDER } from "../../core/config/provider-id.ts";
import { findListedModel, toProviderModel } from "../../core/config/provider-models.ts";
import type { Config } from "../../core/config/schema.ts";
import type { ProviderEntry, ProviderModel } from "../../core/config/schemas/provider-schema.ts";
import type { CatalogueModel } from "../../core/conversation/model.ts";
import { nameInPath } from "../../core/conversation/model-path.ts";
import type { RouteStrategy } from "../../core/conversation/route-strategy.ts";
import { findEntryIgnoringCase } from "../../core/encoding/find-ignoring-case.ts";
import { findDriver } from "../providers/drivers.ts";
import { getCatalogueModel } from "./catalogue.ts";

/** The part of the configuration that maps names to models. */
export type ModelNameConfig = Partial<
  Pick<Config, "model_aliases" | "model_routes" | "providers" | "unknown_models">
>;

/** Returns the target of a configured alias. */
export function getConfiguredAlias(
  name: string,
  { model_aliases = {} }: ModelNameConfig,
): string | undefined {
  return findEntryIgnoringCase(model_aliases, name)?.[1];
}

/** A target of a configured route. */
interface ConfiguredTarget {
  readonly model: string;
  readonly weight?: number | undefined;
}

/** A configured route: its targets as they are listed, and how they are ordered for a request. */
export interface ConfiguredRoute {
  readonly targets: readonly ConfiguredTarget[];
  readonly strategy: RouteStrategy;
}

/** Returns a configured route. */
export function getConfiguredRoute(
  name: string,
  { model_routes = {} }: ModelNameConfig,
): ConfiguredRoute | undefined {
  const stored = findEntryIgnoringCase(model_routes, name)?.[1];
  if (stored === undefined) return undefined;
  const { strategy, models } = readModelRoute(stored);
  return {
    strategy,
    targets: models.map((target) => (typeof target === "string" ? { model: target } : target)),
  };
}

/** Stands for any characters but a slash, once in the name of a route. */
export const WILDCARD = "*";

/** Whether a name matches a pattern with one wildcard. Both are in lower case. */
function matchesPattern(pattern: string, name: string): boolean {
  const [prefix = "", suffix = "", ...others] = pattern.split(WILDCARD);
  if (others.length > 0 || name.length < prefix.length + suffix.length) return false;
  const middle = name.slice(prefix.length, name.length - suffix.length);
  return name.startsWith(prefix) && name.endsWith(suffix) && !middle.includes("/");
}

/** Returns the route whose pattern matches a name; of several, the one with the longest pattern. */
export function getPatternRoute(name: string, nameConfig: ModelNameConfig): ConfiguredRoute | undefined {
  const lower = name.toLowerCase();
  const patterns = Object.keys(nameConfig.model_routes ?? {}).filter(
    (route) => route.includes(WILDCARD) && matchesPattern(route.toLowerCase(), lower),
  );
  if (patterns.length === 0) return undefined;
  const longest = patterns.reduce((best, pattern) => (pattern.length > best.length ? pattern : best));
  return getConfiguredRoute(longest, nameConfig);
}

/**
 * Resolves `provider/model`: a model of a configured provider, or of the default one, by any name that the provider knows.
 */
export function findProviderModel(
  name: string,
  { providers = [] }: ModelNameConfig,
): CatalogueModel | undefined {
  const slash = name.indexOf("/");
  if (slash <= 0 || slash === name.length - 1) return undefined;
  const id = name.slice(0, slash).toLowerCase();
  const modelName = name.slice(slash + 1);
  const provider = providers.find((entry) => entry.enabled && entry.id.toLowerCase() === id);
  if (provider !== undefined) return findModelByCallerName(provider, modelName);
  return id === DEFAULT_PROVIDER ? findDefaultModel(modelName) : undefined;
}

/** Returns a model of the default provider: a canonical one, or one that is sent by its own name. */
function findDefaultModel(name: string): CatalogueModel {
  const canonical = getCatalogueModel(name.toLowerCase());
  if (canonical !== undefined) return canonical;
  const id = `${DEFAULT_PROVIDER}/${name}`;
  return { id, upstream: name, isUpstreamName: true, ...ASSUMED_ABILITIES };
}

/** Resolves an unknown name to a model of the provider that `unknown_models` configures, if any. */
export function resolveUnknownModel(
  name: string,
  { providers = [], unknown_models }: ModelNameConfig,
): CatalogueModel | undefined {
  const id = unknown_models?.provider ?? "";
  if (id === "" || name === "") return undefined;
  if (id === DEFAULT_PROVIDER) return { id: name, upstream: name, ...ASSUMED_ABILITIES };
  const provider = providers.find((entry) => entry.enabled && entry.id === id);
  return provider === undefined ? undefined : findModelByCallerName(provider, name);
}

/**
 * Returns a model of a provider for a name that the caller may have invented. A listed model uses its configured entry.
 */
function findModelByCallerName(provider: ProviderEntry, requested: string): CatalogueModel | undefined {
  const isListed = findListedModel(provider, requested).model !== undefined;
  const inPath = findDriver(provider.driver)?.modelNamesInPaths === true;
  const name = isListed || !inPath ? requested : nameInPath(requested);
  return name === undefined ? undefined : findModel(provider, name);
}

/** Returns the configured models of all providers except the default one, without disabled models. */
export function listProviderModels({ providers = [] }: ModelNameConfig): CatalogueModel[] {
  return providers
    .filter(({ enabled }) => enabled)
    .flatMap((provider) => Object.keys(provider.models).flatMap((name) => findModel(provider, name) ?? []));
}

/** Abilities of a backend's own models. They are unknown, so assume them and let the backend reject what it cannot do. */
const ASSUMED_ABILITIES = { thinking: true, search: false, vision: true };

/** Returns a model of a provider by any name, or undefined if it is disabled. */
function findModel(provider: ProviderEntry, name: string): CatalogueModel | undefined {
  const { name: listed, model } = findListedModel(provider, name);
  if (model?.enabled === false) return undefined;
  const { vision, search } = model ?? {};
  const visionModel = vision === false ? findAlternativeModel(provider, "vision", model) : undefined;
  const searchModel = search === false ? findAlternativeModel(provider, "search", model) : undefined;
  return {
    ...describeModel(provider, listed, model),
    ...(visionModel === undefined ? {} : { visionVariant: visionModel }),
    ...(searchModel === undefined ? {} : { searchVariant: searchModel }),
  };
}

/** Builds a model without its replacements for vision and search. */
function describeModel(
  { id: provider, driver }: ProviderEntry,
  name: string,
  model: ProviderModel = {},
): CatalogueModel {
  const described = findDriver(driver)?.servesCatalogue === true;
  const canonical = described ? getCatalogueModel(name.toLowerCase()) : undefined;
  const { thinking, search, vision } = canonical ?? ASSUMED_ABILITIES;
  const { context, output } = model;
  return {
    id: `${provider}/${name}`,
    upstream: model.upstream ?? canonical?.upstream ?? name,
    provider,
    thinking: model.thinking ?? thinking,
    search: model.search ?? search,
    vision: model.vision ?? vision,
    ...(context === undefined ? {} : { context }),
    ...(output === undefined ? {} : { output }),
  };
}

/** Returns the provider's first model that is configured with an ability, preferably with the same thinking setting. */
function findAlternativeModel(
  provider: ProviderEntry,
  capability: "vision" | "search",
  { thinking }: ProviderModel = {},
): CatalogueModel | undefined {
  const able = Object.entries(provider.models)
    .map(([name, settings]) => [name, toProviderModel(settings)] as const)
    .filter(([, model]) => model.enabled !== false && model[capability] === true);
  const [name, model] = able.find((entry) => entry[1].thinking === thinking) ?? able[0] ?? [];
  return name === undefined ? undefined : describeModel(provider, name, model);
}
