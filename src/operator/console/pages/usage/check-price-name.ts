import { compareNames } from "../../../../gateway/models/near-names.ts";
import { listModels, resolveModel } from "../../api/models.ts";
import { readSettings } from "../../api/settings.ts";
import { checkTarget, readKnownModels } from "../../shared/check-target.ts";

/** Most names that are offered instead. */
const MAX_NEAR = 3;

/** Returns the names that are near to a name, the nearest first. */
export function findNearNames(name: string, known: readonly string[]): string[] {
  const wanted = name.toLowerCase();
  return [...new Set(known)]
    .map((id) => {
      const lower = id.toLowerCase();
      const isPart = wanted.length > 2 && (lower.includes(wanted) || wanted.includes(lower));
      return { id, distance: isPart ? 0 : compareNames(wanted, lower) };
    })
    .filter(({ distance }) => distance < Number.POSITIVE_INFINITY)
    .sort((a, b) => a.distance - b.distance)
    .slice(0, MAX_NEAR)
    .map(({ id }) => id);
}

/** A name of a price that no model has. */
export interface UnknownPriceName {
  readonly name: string;
  readonly near: readonly string[];
}

/** Checks whether a request can have a name as its model; null: it can. A failed check says nothing against the name. */
export async function checkPriceName(name: string): Promise<UnknownPriceName | null> {
  const [models, { model_aliases, model_routes }] = await Promise.all([listModels(), readSettings()]);
  const requested = [...Object.keys(model_aliases), ...Object.keys(model_routes)];
  if (requested.some((id) => id.toLowerCase() === name.toLowerCase())) return null;
  const known = await readKnownModels(models);
  const resolved = await resolveModel(name).catch(() => name);
  if ((await checkTarget(name, resolved, known)).isKnown) return null;
  const ofProviders = known.providers.flatMap(({ id, models }) =>
    Object.keys(models).map((model) => `${id}/${model}`),
  );
  return { name, near: findNearNames(name, [...models, ...requested, ...ofProviders]) };
}
