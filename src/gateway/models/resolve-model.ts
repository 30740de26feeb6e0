import type { CatalogueModel, ResolvedModel, RouteTarget } from "../../core/conversation/model.ts";
import { GatewayError } from "../../core/errors/gateway-error.ts";
import { CATALOGUE, getCatalogueModel, NO_THINKING_SUFFIX } from "./catalogue.ts";
import {
  findProviderModel,
  getConfiguredAlias,
  getConfiguredRoute,
  listProviderModels,
  type ModelNameConfig,
  resolveUnknownModel,
} from "./configured-models.ts";
import { DEFAULT_ALIASES } from "./default-aliases.ts";

/**
 * Retired models (contract, Model alias resolution 5): the message-style families 1.x and 2.x, `instant` models and the old
 * 3.5 chat family, with or without their vendor as a prefix.
 */
const RETIRED_MODELS = [
  /^(?:(?:anthropic|vendorb)\/)?(?:claude|modelb)(?:-(?:v?[12](?:[.-]|$)|instant)|$)/,
  /^(?:openai\/)?gpt-3\.5(?:-|$)/,
];

/** Maximum length of a name that is not configured, in characters: it is stored in logs, records and memory. */
const MAX_NAME_LENGTH = 200;

function isConfigured(name: string, naming: ModelNameConfig): boolean {
  return getConfiguredAlias(name, naming) !== undefined || getConfiguredRoute(name, naming) !== undefined;
}

function modelNotFoundError(why: string): GatewayError {
  return new GatewayError(400, why, { code: "model_not_found", param: "model" });
}

/** Returns a model by its canonical id or by `provider/model`. */
export function findNamedModel(name: string, naming: ModelNameConfig): CatalogueModel | undefined {
  return getCatalogueModel(name.toLowerCase()) ?? findProviderModel(name, naming);
}

function lookUpModel(name: string, naming: ModelNameConfig): CatalogueModel | undefined {
  const lower = name.toLowerCase();
  const canonical = getCatalogueModel(lower);
  if (canonical !== undefined) return canonical;
  const target = getConfiguredAlias(name, naming);
  if (target !== undefined) return findNamedModel(target, naming);
  const own = findProviderModel(name, naming);
  if (own !== undefined) return own;
  const known = DEFAULT_ALIASES.get(lower);
  return known === undefined ? undefined : getCatalogueModel(known);
}

/**
 * Resolves the targets of a configured route. Skips targets that do not exist, for example because their provider is
 * disabled.
 */
function resolveRoute(name: string, suffixed: boolean, naming: ModelNameConfig): RouteTarget[] {
  return (getConfiguredRoute(name, naming) ?? []).flatMap(({ model: target, weight }) => {
    const found = lookUpModel(target, naming);
    const model = found !== undefined && suffixed ? withoutThinking(found) : found;
    if (model === undefined) return [];
    return [weight === undefined ? { model } : { model, weight }];
  });
}

/** Returns the first model of a configured route under the route's name, for lists of models. */
export function getRouteModel(name: string, naming: ModelNameConfig): CatalogueModel | undefined {
  const [first] = resolveRoute(name, name.toLowerCase().endsWith(NO_THINKING_SUFFIX), naming);
  return first === undefined ? undefined : { ...first.model, id: name };
}

/**
 * Returns the listed models outside the catalogue: the models of configured providers, and the routes with at least one
 * model.
 */
export function listAdditionalModels(naming: ModelNameConfig): CatalogueModel[] {
  const own = listProviderModels(naming);
  const taken = new Set([...CATALOGUE, ...own].map(({ id }) => id.toLowerCase()));
  const routes = Object.keys(naming.model_routes ?? {}).filter((name) => !taken.has(name.toLowerCase()));
  return [...own, ...routes.flatMap((name) => getRouteModel(name, naming) ?? [])];
}

/** Returns all listed models: the catalogue in its order, then the others. */
export function listAllModels(naming: ModelNameConfig): CatalogueModel[] {
  return [...CATALOGUE, ...listAdditionalModels(naming)];
}

/**
 * Looks up a name that itself ends with the suffix. Skips `provider/model` names, because any such name would resolve.
 */
function lookUpSuffixed(name: string, bare: string, naming: ModelNameConfig): CatalogueModel | undefined {
  return findProviderModel(bare, naming) === undefined ? lookUpModel(name, naming) : undefined;
}

/** Returns whether a name resolves to a model. */
export function isResolvable(name: string, naming: ModelNameConfig): boolean {
  return lookUpModel(name, naming) !== undefined;
}

/** Returns the variant of a model without thinking. */
function withoutThinking(model: CatalogueModel): CatalogueModel | undefined {
  if (!model.thinking) return model;
  if (model.provider === undefined) return getCatalogueModel(model.id + NO_THINKING_SUFFIX);
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
 * Resolves a requested model name (contract, Model alias resolution). The order is: configured route, canonical id,
 * configured alias, `provider/model` of a configured provider, built-in alias, and last the provider for unknown models.
 * The suffix `-nothinking` selects the variant without thinking, unless the suffixed name is itself a route or an alias.
 * Case is ignored, and similar names are not guessed.
 *
 * @throws GatewayError 400 `model_not_found` for an unknown or retired name, or for a name that is too long.
 */
export function resolveModel(requested: string, naming: ModelNameConfig): ResolvedModel {
  const name = requested.trim();
  const suffixed = name.toLowerCase().endsWith(NO_THINKING_SUFFIX);
  const bare = suffixed ? name.slice(0, -NO_THINKING_SUFFIX.length) : name;
  if (name.length > MAX_NAME_LENGTH && !isConfigured(name, naming) && !isConfigured(bare, naming)) {
    throw modelNotFoundError(`the name of a model has at most ${MAX_NAME_LENGTH} characters`);
  }
  const named = suffixed ? resolveRoute(name, suffixed, naming) : [];
  const route = named.length > 0 ? named : resolveRoute(bare, suffixed, naming);
  const [first] = route;
  if (first !== undefined) return { ...first.model, requested: name, ...(route.length > 1 ? { route } : {}) };
  const found = (suffixed ? lookUpSuffixed(name, bare, naming) : undefined) ?? lookUpModel(bare, naming);
  const model = found !== undefined && suffixed ? withoutThinking(found) : found;
  if (model !== undefined) return { ...model, requested: name };
  if (RETIRED_MODELS.some((pattern) => pattern.test(bare.toLowerCase()))) {
    throw modelNotFoundError(`the model ${JSON.stringify(name)} is retired`);
  }
  const unknown = resolveUnknownModel(name, naming);
  if (unknown !== undefined) return { ...unknown, requested: name };
  throw modelNotFoundError(`the model ${JSON.stringify(name)} does not exist`);
}

/**
 * Resolves a model that a path names. Throws 404 instead of 400, because the resource does not exist.
 *
 * @throws GatewayError 404 `model_not_found`.
 */
export function resolvePathModel(requested: string, naming: ModelNameConfig): ResolvedModel {
  try {
    return resolveModel(requested, naming);
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    throw new GatewayError(404, error.message, { code: error.code, param: error.param });
  }
}
