import { isListed } from "../../core/config/name-list.ts";
import type { Config } from "../../core/config/schema.ts";
import type { CatalogueModel } from "../../core/conversation/model.ts";
import { oncePer } from "../../core/encoding/once-per.ts";
import { getConfiguredRoute } from "../../gateway/models/configured-models.ts";
import { listAllModels } from "../../gateway/models/resolve-model.ts";
import { findModelPrice } from "../../records/usage/prices.ts";

/** A key, team, user or tag, or a provider. */
interface Subject {
  readonly limits?:
    | { readonly cost_per_day?: number | undefined; readonly cost_per_month?: number | undefined }
    | undefined;
  /** The allowed models; empty or absent: all. */
  readonly models?: readonly string[] | undefined;
}

/** The listed models without a price. Names of routes are no models. */
const listUnpricedModels = oncePer((config: Config): readonly CatalogueModel[] =>
  listAllModels(config).filter(
    ({ id }) => getConfiguredRoute(id, config) === undefined && findModelPrice(config, id) === null,
  ),
);

/** Whether limits include a budget of cost. */
function hasCostBudget({ limits: { cost_per_day = 0, cost_per_month = 0 } = {} }: Subject): boolean {
  return cost_per_day > 0 || cost_per_month > 0;
}

/**
 * The number of models without a price that the requests of a subject may use, if it has a budget of cost: their cost is not
 * counted. 0 without such a budget.
 */
export function countUnpricedModels(config: Config, subject: Subject): number {
  if (!hasCostBudget(subject)) return 0;
  const { models = [] } = subject;
  const unpriced = listUnpricedModels(config);
  return models.length === 0 ? unpriced.length : unpriced.filter(({ id }) => isListed(models, id)).length;
}

/** {@link countUnpricedModels} as a member of an answer that lacks it for 0 (contract: `POST /admin/keys`). */
export function noteUnpricedModels(config: Config, subject: Subject): { unpriced_models?: number } {
  const count = countUnpricedModels(config, subject);
  return count === 0 ? {} : { unpriced_models: count };
}

/** {@link countUnpricedModels} for the models of a provider; undefined: the provider of the variables. */
export function countUnpricedProviderModels(
  config: Config,
  { limits }: Pick<Subject, "limits">,
  provider: string | undefined,
): number {
  if (!hasCostBudget({ limits })) return 0;
  return listUnpricedModels(config).filter((model) => model.provider === provider).length;
}
