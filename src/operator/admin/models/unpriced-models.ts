import { LIMIT_KINDS, LIMIT_NAMES, type LimitName } from "../../../core/config/limit-kinds.ts";
import { isModelListed } from "../../../core/config/name-list.ts";
import type { Config } from "../../../core/config/schema.ts";
import type { CatalogueModel, ResolvedModel } from "../../../core/conversation/model.ts";
import { oncePer } from "../../../core/encoding/once.ts";
import type { Platform } from "../../../core/ports/platform.ts";
import { NO_THINKING_SUFFIX } from "../../../gateway/models/catalogue.ts";
import { WILDCARD } from "../../../gateway/models/configured-models.ts";
import { DEFAULT_ALIASES } from "../../../gateway/models/default-aliases.ts";
import { ModelNotFoundError } from "../../../gateway/models/model-not-found.ts";
import { listAllModels, resolveModel } from "../../../gateway/models/resolve-model.ts";
import { findModelPrice } from "../../../records/usage/prices.ts";

/** A key, team, user or tag, or a provider. */
interface Subject {
  readonly limits?: Readonly<Partial<Record<LimitName, number | undefined>>> | undefined;
  /** The allowed models; empty or absent: all. */
  readonly models?: readonly string[] | undefined;
  /** Of a key: ids of its team and user, whose lists of models hold for it, too. */
  readonly team?: string | undefined;
  readonly user?: string | undefined;
}

/** A name for which a model without a price may answer. */
interface UnpricedUse {
  readonly requested: string;
  readonly model: Pick<CatalogueModel, "id" | "provider">;
}

function resolveIfKnown(name: string, config: Config): ResolvedModel | null {
  try {
    return resolveModel(name, config);
  } catch (error) {
    if (error instanceof ModelNotFoundError) return null;
    throw error;
  }
}

/** The listed models, aliases and routes for which a model without a price may answer. */
const listUnpricedUses = oncePer((config: Config): readonly UnpricedUse[] => {
  const names = [
    ...listAllModels(config).map(({ id }) => id),
    ...Object.keys(config.model_aliases),
    ...Object.keys(config.model_routes),
    ...DEFAULT_ALIASES.keys(),
  ];
  return [...new Set(names)]
    .filter((name) => !name.includes(WILDCARD))
    .flatMap((requested) => {
      const resolved = resolveIfKnown(requested, config);
      if (resolved === null) return [];
      const models = resolved.route?.map(({ model }) => model) ?? [resolved];
      return models
        .filter(({ id }) => findModelPrice(config, id, requested) === null)
        .map((model) => ({ requested, model }));
    });
});

/** Whether a provider serves a model: the built-in names need the provider of the variables. */
const isServed = ({ provider }: Pick<CatalogueModel, "provider">, defaultBaseUrl: string | null): boolean =>
  provider !== undefined || defaultBaseUrl !== null;

/** The listed names that no provider serves. The contract lists the built-in names nevertheless. */
export function listUnservedModels(
  config: Config,
  { providerBaseUrl }: Pick<Platform, "providerBaseUrl">,
): string[] {
  if (providerBaseUrl !== null) return [];
  return listAllModels(config)
    .map(({ id }) => id)
    .filter((id) => {
      const resolved = resolveIfKnown(id, config);
      const models = resolved?.route?.map(({ model }) => model) ?? (resolved === null ? [] : [resolved]);
      return !models.some((model) => isServed(model, providerBaseUrl));
    });
}

/** Whether limits include a budget of cost. */
function hasCostBudget({ limits = {} }: Subject): boolean {
  return LIMIT_NAMES.some((name) => LIMIT_KINDS[name].unit === "cost" && (limits[name] ?? 0) > 0);
}

/** The number of different models. Variants without thinking have the price of their model. */
const countModels = (uses: readonly UnpricedUse[]): number =>
  new Set(
    uses.map(({ model: { id } }) =>
      id.endsWith(NO_THINKING_SUFFIX) ? id.slice(0, -NO_THINKING_SUFFIX.length) : id,
    ),
  ).size;

/**
 * The number of models without a price that the requests of a subject may use, by any name, if the subject has a budget of
 * cost: the cost of these models is not counted. 0 without such a budget.
 */
export function countUnpricedModels(
  config: Config,
  subject: Subject,
  { providerBaseUrl }: Pick<Platform, "providerBaseUrl">,
): number {
  if (!hasCostBudget(subject)) return 0;
  const team = config.teams.find(({ id }) => id === subject.team);
  const user = config.users.find(({ id }) => id === subject.user);
  const lists = [subject, team, user].flatMap((entry) => (entry?.models?.length ? [entry.models] : []));
  const uses = listUnpricedUses(config).filter(({ model }) => isServed(model, providerBaseUrl));
  return countModels(
    uses.filter(({ requested, model: { id } }) =>
      lists.every((list) => isModelListed(list, { requested, id })),
    ),
  );
}

/** The member `unpriced_models` of an answer; absent if the number is 0 (docs/contract/admin-entries.md). */
export function noteUnpricedModels(
  config: Config,
  subject: Subject,
  platform: Pick<Platform, "providerBaseUrl">,
): { unpriced_models?: number } {
  const count = countUnpricedModels(config, subject, platform);
  return count === 0 ? {} : { unpriced_models: count };
}

/** {@link countUnpricedModels} for the models of a provider; undefined: the provider of the variables. */
export function countUnpricedProviderModels(
  config: Config,
  { limits }: Pick<Subject, "limits">,
  provider: string | undefined,
): number {
  if (!hasCostBudget({ limits })) return 0;
  return countModels(listUnpricedUses(config).filter(({ model }) => model.provider === provider));
}
