import type { CatalogueModel, ResolvedModel } from "../conversation/model.ts";
import { GatewayError } from "../errors/gateway-error.ts";
import { catalogueModel, NO_THINKING } from "./catalogue.ts";
import { DEFAULT_ALIASES } from "./default-aliases.ts";

/**
 * Retired historical models (contract, Model alias resolution 5): the message-style families 1.x and 2.x, `instant`
 * models and the old 3.5 chat family, also with their vendor before the name.
 */
const RETIRED = [
  /^(?:(?:anthropic|vendorb)\/)?(?:claude|modelb)(?:-(?:v?[12](?:[.-]|$)|instant)|$)/,
  /^(?:openai\/)?gpt-3\.5(?:-|$)/,
];

function unknownModel(why: string): GatewayError {
  return new GatewayError(400, why, { code: "model_not_found", param: "model" });
}

/** The target of a configured alias: of the name as it is written, else of the first that differs in case alone. */
function configured(name: string, aliases: Readonly<Record<string, string>>): string | undefined {
  if (Object.hasOwn(aliases, name)) return aliases[name];
  const lower = name.toLowerCase();
  return Object.entries(aliases).find(([alias]) => alias.toLowerCase() === lower)?.[1];
}

function lookUp(name: string, aliases: Readonly<Record<string, string>>): CatalogueModel | undefined {
  const lower = name.toLowerCase();
  const canonical = catalogueModel(lower);
  if (canonical !== undefined) return canonical;
  const target = configured(name, aliases) ?? DEFAULT_ALIASES.get(lower);
  return target === undefined ? undefined : catalogueModel(target);
}

/** The variant that does not think. */
function withoutThinking(model: CatalogueModel): CatalogueModel | undefined {
  return model.thinking ? catalogueModel(model.id + NO_THINKING) : model;
}

/**
 * Resolves a requested model name: canonical id, then exact alias (configured ones override the defaults); a name that
 * ends with `-nothinking` stands for the variant that does not think, be it an alias itself or another name with the
 * suffix (contract, Model alias resolution). Case makes no difference. There is no guessing by family.
 *
 * @throws GatewayError 400 `model_not_found` for a name that stands for nothing or for a retired model.
 */
export function resolveModel(requested: string, aliases: Readonly<Record<string, string>>): ResolvedModel {
  const name = requested.trim();
  const suffixed = name.toLowerCase().endsWith(NO_THINKING);
  const bare = suffixed ? name.slice(0, -NO_THINKING.length) : name;
  const found = lookUp(name, aliases) ?? lookUp(bare, aliases);
  const model = found !== undefined && suffixed ? withoutThinking(found) : found;
  if (model !== undefined) return { ...model, requested: name };
  if (RETIRED.some((pattern) => pattern.test(bare.toLowerCase()))) {
    throw unknownModel(`the model ${JSON.stringify(name)} is retired`);
  }
  throw unknownModel(`the model ${JSON.stringify(name)} does not exist`);
}

/**
 * The same for a model that is asked for by path: there an unknown one is a thing that is not there.
 *
 * @throws GatewayError 404 `model_not_found`.
 */
export function modelAtPath(requested: string, aliases: Readonly<Record<string, string>>): ResolvedModel {
  try {
    return resolveModel(requested, aliases);
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    throw new GatewayError(404, error.message, { code: error.code, param: error.param });
  }
}
