import type { CatalogueModel, ResolvedModel } from "../conversation/model.ts";
import { GatewayError } from "../errors/gateway-error.ts";
import { catalogueModel, NO_THINKING } from "./catalogue.ts";
import { DEFAULT_ALIASES } from "./default-aliases.ts";

/**
 * Retired historical models (contract, Model alias resolution 5): the message-style families 1.x and 2.x, `instant`
 * models and the old 3.5 chat family.
 */
const RETIRED = [
  /^(?:claude|modelb)-(?:v?[12](?:[.-]|$)|instant)/,
  /^(?:claude|modelb)$/,
  /^gpt-3\.5(?:-|$)/,
];

function unknownModel(why: string): GatewayError {
  return new GatewayError(400, why, { code: "model_not_found", param: "model" });
}

function lookUp(name: string, aliases: Readonly<Record<string, string>>): CatalogueModel | undefined {
  const canonical = catalogueModel(name);
  if (canonical !== undefined) return canonical;
  const target = Object.hasOwn(aliases, name) ? aliases[name] : DEFAULT_ALIASES.get(name);
  return target === undefined ? undefined : catalogueModel(target);
}

/**
 * Resolves a requested model name: canonical id, then exact alias (configured ones override the defaults), then the
 * `-nothinking` suffix on either (contract, Model alias resolution). There is no guessing by family.
 *
 * @throws GatewayError 400 `model_not_found` for a name that stands for nothing or for a retired model.
 */
export function resolveModel(requested: string, aliases: Readonly<Record<string, string>>): ResolvedModel {
  const name = requested.trim();
  const lower = name.toLowerCase();
  const bare = lower.endsWith(NO_THINKING) ? lower.slice(0, -NO_THINKING.length) : lower;
  const found = lookUp(name, aliases) ?? lookUp(lower, aliases);
  if (found !== undefined) return { ...found, requested: name };
  if (bare !== lower) {
    const base = lookUp(name.slice(0, -NO_THINKING.length), aliases) ?? lookUp(bare, aliases);
    const variant = base === undefined || !base.thinking ? base : catalogueModel(base.id + NO_THINKING);
    if (variant !== undefined) return { ...variant, requested: name };
  }
  if (RETIRED.some((pattern) => pattern.test(bare))) {
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
