import type { CatalogueModel, ResolvedModel, RouteTarget } from "../conversation/model.ts";
import { GatewayError } from "../errors/gateway-error.ts";
import { CATALOGUE, catalogueModel, NO_THINKING } from "./catalogue.ts";
import { DEFAULT_ALIASES } from "./default-aliases.ts";
import {
  configuredAlias,
  configuredRoute,
  modelOfProvider,
  modelsOfProviders,
  type Naming,
  unknownModelAt,
} from "./naming.ts";

/**
 * Retired models (contract, Model alias resolution 5): the message-style families 1.x and 2.x, `instant` models and the old
 * 3.5 chat family, with or without their vendor as a prefix.
 */
const RETIRED = [
  /^(?:(?:anthropic|vendorb)\/)?(?:claude|modelb)(?:-(?:v?[12](?:[.-]|$)|instant)|$)/,
  /^(?:openai\/)?gpt-3\.5(?:-|$)/,
];

/** Maximum length of a name that is not configured, in characters: it is stored in logs, records and memory. */
const LONGEST_NAME = 200;

function isConfigured(name: string, naming: Naming): boolean {
  return configuredAlias(name, naming) !== undefined || configuredRoute(name, naming) !== undefined;
}

function unknownModel(why: string): GatewayError {
  return new GatewayError(400, why, { code: "model_not_found", param: "model" });
}

/** Returns a model by its canonical id or by `provider/model`. */
export function namedModel(name: string, naming: Naming): CatalogueModel | undefined {
  return catalogueModel(name.toLowerCase()) ?? modelOfProvider(name, naming);
}

function lookUp(name: string, naming: Naming): CatalogueModel | undefined {
  const lower = name.toLowerCase();
  const canonical = catalogueModel(lower);
  if (canonical !== undefined) return canonical;
  const target = configuredAlias(name, naming);
  if (target !== undefined) return namedModel(target, naming);
  const own = modelOfProvider(name, naming);
  if (own !== undefined) return own;
  const known = DEFAULT_ALIASES.get(lower);
  return known === undefined ? undefined : catalogueModel(known);
}

/**
 * Resolves the targets of a configured route. Skips targets that do not exist, for example because their provider is
 * disabled.
 */
function routeOf(name: string, suffixed: boolean, naming: Naming): RouteTarget[] {
  return (configuredRoute(name, naming) ?? []).flatMap(({ model: target, weight }) => {
    const found = lookUp(target, naming);
    const model = found !== undefined && suffixed ? withoutThinking(found) : found;
    if (model === undefined) return [];
    return [weight === undefined ? { model } : { model, weight }];
  });
}

/** Returns the first model of a configured route under the route's name, for lists of models. */
export function routeModel(name: string, naming: Naming): CatalogueModel | undefined {
  const [first] = routeOf(name, name.toLowerCase().endsWith(NO_THINKING), naming);
  return first === undefined ? undefined : { ...first.model, id: name };
}

/**
 * Returns the listed models outside the catalogue: the models of configured providers, and the routes with at least one
 * model.
 */
export function furtherModels(naming: Naming): CatalogueModel[] {
  const own = modelsOfProviders(naming);
  const taken = new Set([...CATALOGUE, ...own].map(({ id }) => id.toLowerCase()));
  const routes = Object.keys(naming.model_routes ?? {}).filter((name) => !taken.has(name.toLowerCase()));
  return [...own, ...routes.flatMap((name) => routeModel(name, naming) ?? [])];
}

/** Returns all listed models: the catalogue in its order, then the others. */
export function listedModels(naming: Naming): CatalogueModel[] {
  return [...CATALOGUE, ...furtherModels(naming)];
}

/**
 * Looks up a name that itself ends with the suffix. Skips `provider/model` names, because any such name would resolve.
 */
function lookUpSuffixed(name: string, bare: string, naming: Naming): CatalogueModel | undefined {
  return modelOfProvider(bare, naming) === undefined ? lookUp(name, naming) : undefined;
}

/** Returns whether a name resolves to a model. */
export function resolves(name: string, naming: Naming): boolean {
  return lookUp(name, naming) !== undefined;
}

/** Returns the variant of a model without thinking. */
function withoutThinking(model: CatalogueModel): CatalogueModel | undefined {
  if (!model.thinking) return model;
  if (model.provider === undefined) return catalogueModel(model.id + NO_THINKING);
  const { sighted, searching } = model;
  return {
    ...model,
    id: model.id + NO_THINKING,
    thinking: false,
    ...(sighted === undefined ? {} : { sighted: thoughtless(sighted) }),
    ...(searching === undefined ? {} : { searching: thoughtless(searching) }),
  };
}

/** Returns the variant without thinking of a provider's model, which always exists. */
function thoughtless(model: CatalogueModel): CatalogueModel {
  return model.thinking ? { ...model, id: model.id + NO_THINKING, thinking: false } : model;
}

/**
 * Resolves a requested model name (contract, Model alias resolution). The order is: configured route, canonical id,
 * configured alias, `provider/model` of a configured provider, built-in alias, and last the provider for unknown models.
 * The suffix `-nothinking` selects the variant without thinking, unless the suffixed name is itself a route or an alias.
 * Case is ignored, and similar names are not guessed.
 *
 * @throws GatewayError 400 `model_not_found` for an unknown or retired name, or for a name that is too long.
 */
export function resolveModel(requested: string, naming: Naming): ResolvedModel {
  const name = requested.trim();
  const suffixed = name.toLowerCase().endsWith(NO_THINKING);
  const bare = suffixed ? name.slice(0, -NO_THINKING.length) : name;
  if (name.length > LONGEST_NAME && !isConfigured(name, naming) && !isConfigured(bare, naming)) {
    throw unknownModel(`the name of a model has at most ${LONGEST_NAME} characters`);
  }
  const named = suffixed ? routeOf(name, suffixed, naming) : [];
  const route = named.length > 0 ? named : routeOf(bare, suffixed, naming);
  const [first] = route;
  if (first !== undefined) return { ...first.model, requested: name, ...(route.length > 1 ? { route } : {}) };
  const found = (suffixed ? lookUpSuffixed(name, bare, naming) : undefined) ?? lookUp(bare, naming);
  const model = found !== undefined && suffixed ? withoutThinking(found) : found;
  if (model !== undefined) return { ...model, requested: name };
  if (RETIRED.some((pattern) => pattern.test(bare.toLowerCase()))) {
    throw unknownModel(`the model ${JSON.stringify(name)} is retired`);
  }
  const unknown = unknownModelAt(name, naming);
  if (unknown !== undefined) return { ...unknown, requested: name };
  throw unknownModel(`the model ${JSON.stringify(name)} does not exist`);
}

/**
 * Resolves a model that a path names. Throws 404 instead of 400, because the resource does not exist.
 *
 * @throws GatewayError 404 `model_not_found`.
 */
export function modelAtPath(requested: string, naming: Naming): ResolvedModel {
  try {
    return resolveModel(requested, naming);
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    throw new GatewayError(404, error.message, { code: error.code, param: error.param });
  }
}
