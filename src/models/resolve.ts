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
 * Retired historical models (contract, Model alias resolution 5): the message-style families 1.x and 2.x, `instant`
 * models and the old 3.5 chat family, also with their vendor before the name.
 */
const RETIRED = [
  /^(?:(?:anthropic|vendorb)\/)?(?:claude|modelb)(?:-(?:v?[12](?:[.-]|$)|instant)|$)/,
  /^(?:openai\/)?gpt-3\.5(?:-|$)/,
];

/** Characters of the longest name that nobody has configured: it is kept in logs, records and memories. */
const LONGEST_NAME = 200;

function isConfigured(name: string, naming: Naming): boolean {
  return configuredAlias(name, naming) !== undefined || configuredRoute(name, naming) !== undefined;
}

function unknownModel(why: string): GatewayError {
  return new GatewayError(400, why, { code: "model_not_found", param: "model" });
}

/** A model by a name of its own: a canonical id, or `provider/model`. */
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

/** What a configured route leads to. What is not there, because its provider is switched off, is passed over. */
function routeOf(name: string, suffixed: boolean, naming: Naming): RouteTarget[] {
  return (configuredRoute(name, naming) ?? []).flatMap(({ model: target, weight }) => {
    const found = lookUp(target, naming);
    const model = found !== undefined && suffixed ? withoutThinking(found) : found;
    if (model === undefined) return [];
    return [weight === undefined ? { model } : { model, weight }];
  });
}

/** What a configured route leads to first, under the route's own name: what lists tell of it. */
export function routeModel(name: string, naming: Naming): CatalogueModel | undefined {
  const [first] = routeOf(name, name.toLowerCase().endsWith(NO_THINKING), naming);
  return first === undefined ? undefined : { ...first.model, id: name };
}

/** What lists have besides the catalogue: the models of configured providers, and the names of routes that lead somewhere. */
export function furtherModels(naming: Naming): CatalogueModel[] {
  const own = modelsOfProviders(naming);
  const taken = new Set([...CATALOGUE, ...own].map(({ id }) => id.toLowerCase()));
  const routes = Object.keys(naming.model_routes ?? {}).filter((name) => !taken.has(name.toLowerCase()));
  return [...own, ...routes.flatMap((name) => routeModel(name, naming) ?? [])];
}

/** All that lists of models have: the catalogue in its order, then the rest. */
export function listedModels(naming: Naming): CatalogueModel[] {
  return [...CATALOGUE, ...furtherModels(naming)];
}

/** What a name stands for that itself ends with the suffix: any name behind a provider's would be one. */
function lookUpSuffixed(name: string, bare: string, naming: Naming): CatalogueModel | undefined {
  return modelOfProvider(bare, naming) === undefined ? lookUp(name, naming) : undefined;
}

/** Whether a name stands for one model. */
export function resolves(name: string, naming: Naming): boolean {
  return lookUp(name, naming) !== undefined;
}

/** The variant that does not think. */
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

/** The same of one that a provider has, and so always. */
function thoughtless(model: CatalogueModel): CatalogueModel {
  return model.thinking ? { ...model, id: model.id + NO_THINKING, thinking: false } : model;
}

/**
 * Resolves a requested model name: configured route, canonical id, then exact alias (configured ones override the defaults), of which
 * `provider/model` for a configured provider is one; a name that ends with `-nothinking` stands for the variant that does not think, be it an alias itself or another name with the
 * suffix (contract, Model alias resolution). Case makes no difference. There is no guessing by family.
 *
 * @throws GatewayError 400 `model_not_found` for a name that stands for nothing or for a retired model, or is too long for one.
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
 * The same for a model that is asked for by path: there an unknown one is a thing that is not there.
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
