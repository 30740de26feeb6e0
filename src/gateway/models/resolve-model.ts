import {
  type CatalogueModel,
  hasUpstreamName,
  type ResolvedModel,
  type RouteTarget,
} from "../../core/conversation/model.ts";
import type { RouteStrategy } from "../../core/conversation/route-strategy.ts";
import { CATALOGUE, getCatalogueModel, NO_THINKING_SUFFIX } from "./catalogue.ts";
import {
  findProviderModel,
  getConfiguredAlias,
  getConfiguredRoute,
  getPatternRoute,
  listProviderModels,
  type ModelNameConfig,
  resolveUnknownModel,
  WILDCARD,
} from "./configured-models.ts";
import { DEFAULT_ALIASES } from "./default-aliases.ts";
import { ModelNotFoundError } from "./model-not-found.ts";

/**
 * Retired models (docs/contract/answers.md, Model alias resolution, rule 5): the message-style families 1.x and 2.x,
 * `instant` models and the old 3.5 chat family, with or without their vendor as a prefix.
 */
const RETIRED_MODELS = [
  /^(?:(?:anthropic|vendorb)\/)?(?:claude|modelb)(?:-(?:v?[12](?:[.-]|$)|instant)|$)/,
  /^(?:openai\/)?gpt-3\.5(?:-|$)/,
];

/** Maximum length of a name that is not configured, in characters: it is stored in logs, records and memory. */
export const MAX_NAME_LENGTH = 200;

function isConfigured(name: string, nameConfig: ModelNameConfig): boolean {
  return (
    getConfiguredAlias(name, nameConfig) !== undefined || getConfiguredRoute(name, nameConfig) !== undefined
  );
}

/** Returns a model by its canonical id or by `provider/model`. */
export function findNamedModel(name: string, nameConfig: ModelNameConfig): CatalogueModel | undefined {
  return getCatalogueModel(name.toLowerCase()) ?? findProviderModel(name, nameConfig);
}

function lookUpModel(name: string, nameConfig: ModelNameConfig): CatalogueModel | undefined {
  const lower = name.toLowerCase();
  const canonical = getCatalogueModel(lower);
  if (canonical !== undefined) return canonical;
  const target = getConfiguredAlias(name, nameConfig);
  if (target !== undefined) return findNamedModel(target, nameConfig);
  const providerModel = findProviderModel(name, nameConfig);
  if (providerModel !== undefined) return providerModel;
  const known = DEFAULT_ALIASES.get(lower);
  return known === undefined ? undefined : getCatalogueModel(known);
}

/**
 * Finds the route of a name: the route with this name, else the one that a configured alias names, else one whose pattern
 * matches a name that is no canonical id, alias or `provider/model`.
 */
function findRoute(name: string, nameConfig: ModelNameConfig): ReturnType<typeof getConfiguredRoute> {
  const { model_routes = {} } = nameConfig;
  const exact = getConfiguredRoute(name, nameConfig);
  if (exact !== undefined || Object.keys(model_routes).length === 0) return exact;
  if (getCatalogueModel(name.toLowerCase()) !== undefined) return undefined;
  const alias = getConfiguredAlias(name, nameConfig);
  if (alias !== undefined) {
    return findNamedModel(alias, nameConfig) === undefined
      ? getConfiguredRoute(alias, nameConfig)
      : undefined;
  }
  const matching = getPatternRoute(name, nameConfig);
  return matching === undefined || findProviderModel(name, nameConfig) !== undefined ? undefined : matching;
}

/**
 * Resolves the targets of a configured route. Skips targets that do not exist, for example because their provider is
 * disabled.
 */
function resolveRoute(
  name: string,
  suffixed: boolean,
  nameConfig: ModelNameConfig,
): { readonly targets: readonly RouteTarget[]; readonly strategy: RouteStrategy } {
  const { targets, strategy } = findRoute(name, nameConfig) ?? { targets: [], strategy: "order" };
  const resolved = targets.flatMap(({ model: target, weight }) => {
    const found = lookUpModel(target, nameConfig);
    const model = found !== undefined && suffixed ? withoutThinking(found) : found;
    if (model === undefined) return [];
    return [weight === undefined ? { model } : { model, weight }];
  });
  return { targets: resolved, strategy };
}

/** Returns the first model of a configured route under the route's name, for lists of models. */
export function getRouteModel(name: string, nameConfig: ModelNameConfig): CatalogueModel | undefined {
  const { targets } = resolveRoute(name, name.toLowerCase().endsWith(NO_THINKING_SUFFIX), nameConfig);
  const [first] = targets;
  return first === undefined ? undefined : { ...first.model, id: name };
}

/**
 * Returns the listed models outside the catalogue: the models of configured providers, and the routes with at least one
 * model.
 */
export function listAdditionalModels(nameConfig: ModelNameConfig): CatalogueModel[] {
  const providerModels = listProviderModels(nameConfig);
  const takenIds = new Set([...CATALOGUE, ...providerModels].map(({ id }) => id.toLowerCase()));
  const routes = Object.keys(nameConfig.model_routes ?? {}).filter(
    (name) => !name.includes(WILDCARD) && !takenIds.has(name.toLowerCase()),
  );
  return [...providerModels, ...routes.flatMap((name) => getRouteModel(name, nameConfig) ?? [])];
}

/** Returns all listed models: the catalogue in its order, then the others. */
export function listAllModels(nameConfig: ModelNameConfig): CatalogueModel[] {
  return [...CATALOGUE, ...listAdditionalModels(nameConfig)];
}

/**
 * Looks up a name that itself ends with the suffix. Skips `provider/model` names, because any such name would resolve.
 */
function lookUpSuffixed(
  name: string,
  baseName: string,
  nameConfig: ModelNameConfig,
): CatalogueModel | undefined {
  return findProviderModel(baseName, nameConfig) === undefined ? lookUpModel(name, nameConfig) : undefined;
}

/** Returns whether a name resolves to a model. */
export function isResolvable(name: string, nameConfig: ModelNameConfig): boolean {
  return lookUpModel(name, nameConfig) !== undefined;
}

/** Returns the variant of a model without thinking. */
function withoutThinking(model: CatalogueModel): CatalogueModel | undefined {
  if (!model.thinking) return model;
  if (!hasUpstreamName(model)) return getCatalogueModel(model.id + NO_THINKING_SUFFIX);
  const { visionVariant, searchVariant } = model;
  return {
    ...model,
    id: model.id + NO_THINKING_SUFFIX,
    thinking: false,
    ...(visionVariant === undefined ? {} : { visionVariant: toNonThinkingModel(visionVariant) }),
    ...(searchVariant === undefined ? {} : { searchVariant: toNonThinkingModel(searchVariant) }),
  };
}

/** Returns the variant without thinking of a provider's model, which always exists. */
function toNonThinkingModel(model: CatalogueModel): CatalogueModel {
  return model.thinking ? { ...model, id: model.id + NO_THINKING_SUFFIX, thinking: false } : model;
}

/**
 * Resolves a requested model name (docs/contract/answers.md, Model alias resolution). The order is: configured route,
 * canonical id, configured alias of a model or route, `provider/model` of a configured provider, route whose pattern
 * matches, built-in alias, and last the provider for unknown models. The suffix `-nothinking` selects the variant
 * without thinking, unless the suffixed name is itself a route or an alias. Case is ignored, and similar names are not
 * guessed.
 *
 * @throws GatewayError 400 `model_not_found` for an unknown or retired name, or for a name that is too long.
 */
export function resolveModel(requested: string, nameConfig: ModelNameConfig): ResolvedModel {
  const name = requested.trim();
  const suffixed = name.toLowerCase().endsWith(NO_THINKING_SUFFIX);
  const baseName = suffixed ? name.slice(0, -NO_THINKING_SUFFIX.length) : name;
  if (
    name.length > MAX_NAME_LENGTH &&
    !isConfigured(name, nameConfig) &&
    !isConfigured(baseName, nameConfig)
  ) {
    throw new ModelNotFoundError(name, `the name of a model has at most ${MAX_NAME_LENGTH} characters`);
  }
  const named = suffixed ? resolveRoute(name, suffixed, nameConfig) : null;
  const route =
    named !== null && named.targets.length > 0 ? named : resolveRoute(baseName, suffixed, nameConfig);
  const [first] = route.targets;
  if (first !== undefined) {
    const model = { ...first.model, requested: name };
    if (route.targets.length === 1) return model;
    const { targets, strategy } = route;
    return { ...model, route: targets, ...(strategy === "order" ? {} : { routeStrategy: strategy }) };
  }
  const found =
    (suffixed ? lookUpSuffixed(name, baseName, nameConfig) : undefined) ?? lookUpModel(baseName, nameConfig);
  const model = found !== undefined && suffixed ? withoutThinking(found) : found;
  if (model !== undefined) return { ...model, requested: name };
  if (RETIRED_MODELS.some((pattern) => pattern.test(baseName.toLowerCase()))) {
    throw new ModelNotFoundError(name, `the model ${JSON.stringify(name)} is retired`);
  }
  const unknown = resolveUnknownModel(name, nameConfig);
  if (unknown !== undefined) return { ...unknown, requested: name };
  throw new ModelNotFoundError(name, `the model ${JSON.stringify(name)} does not exist`);
}

/**
 * Resolves a model that a path names. Throws 404 instead of 400, because the resource does not exist.
 *
 * @throws GatewayError 404 `model_not_found`.
 */
export function resolvePathModel(requested: string, nameConfig: ModelNameConfig): ResolvedModel {
  try {
    return resolveModel(requested, nameConfig);
  } catch (error) {
    if (!(error instanceof ModelNotFoundError)) throw error;
    throw new ModelNotFoundError(error.requested, error.message, 404);
  }
}
