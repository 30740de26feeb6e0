import { readModelRoute } from "../../core/config/model-route.ts";
import { findListedModel } from "../../core/config/provider-models.ts";
import type { CatalogueModel } from "../../core/conversation/model.ts";
import { getCatalogueModel } from "./catalogue.ts";
import type { ModelNameConfig } from "./configured-models.ts";

/**
 * The name of a model at its provider, if it may be any text of the caller (`provider/any text`). Undefined: the
 * catalogue or the configuration has the name.
 */
export function findInventedName(
  { id, upstream, provider: providerId }: CatalogueModel,
  { providers = [], model_aliases = {}, model_routes = {} }: ModelNameConfig,
): string | undefined {
  if (getCatalogueModel(id) !== undefined || getCatalogueModel(upstream.toLowerCase()) !== undefined)
    return undefined;
  const provider = providers.find((entry) => entry.id === providerId);
  if (provider !== undefined && findListedModel(provider, upstream).model !== undefined) return undefined;
  const targets = Object.values(model_routes).flatMap((route) =>
    readModelRoute(route).models.map((target) => (typeof target === "string" ? target : target.model)),
  );
  const isConfigured = [...targets, ...Object.values(model_aliases)].some((name) =>
    name.toLowerCase().endsWith(upstream.toLowerCase()),
  );
  return isConfigured ? undefined : upstream;
}
