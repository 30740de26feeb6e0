import type { ProviderView } from "../../api/providers.ts";

/** Suffix of the variant without thinking, which has the price of its model. */
const NO_THINKING = /-nothinking$/;

const normalize = (name: string): string => name.toLowerCase().replace(NO_THINKING, "");

type PricedProvider = Pick<ProviderView, "id" | "models">;

/**
 * Returns the models that have no price: neither one of their own, nor one at their provider. Variants without thinking are
 * left out, because they share the price of their model.
 *
 * @param models listed models; routes are left out, because their models have the prices
 */
export function listUnpricedNames(
  models: readonly string[],
  priced: readonly string[],
  routes: readonly string[],
  providers: readonly PricedProvider[],
): string[] {
  const atProviders = providers.flatMap(({ id, models }) =>
    Object.entries(models).flatMap(([name, entry]) =>
      typeof entry !== "string" && entry.price !== undefined ? [`${id}/${name}`] : [],
    ),
  );
  const known = new Set([...priced, ...routes, ...atProviders].map(normalize));
  return [
    ...new Set(
      models.filter((name) => !known.has(normalize(name))).map((name) => name.replace(NO_THINKING, "")),
    ),
  ];
}
