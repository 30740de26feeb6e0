import type { ListedModel } from "./model-list.ts";

/** Returns the offered names that are not listed yet. */
export function findUnlisted(offered: readonly string[], models: readonly ListedModel[]): string[] {
  const listed = new Set(models.flatMap(({ name, upstream }) => [name, upstream]));
  return offered.filter((name) => !listed.has(name));
}

/** Returns the listed models that the provider no longer offers. */
export function findRemoved(offered: readonly string[], models: readonly ListedModel[]): ListedModel[] {
  const offeredNames = new Set(offered);
  return models.filter(({ upstream }) => !offeredNames.has(upstream));
}

/** What can be known of a model besides its names. */
const FACTS = ["context", "output", "thinking", "vision", "price"] as const;

/** Returns the listed models that lack something which is known of them. */
export function findIncomplete(
  models: readonly ListedModel[],
  details: ReadonlyMap<string, Pick<ListedModel, (typeof FACTS)[number]>>,
): ListedModel[] {
  return models.filter((model) => {
    const known = details.get(model.upstream);
    return (
      known !== undefined && FACTS.some((fact) => known[fact] !== undefined && model[fact] === undefined)
    );
  });
}

/** Returns the names that contain a text, ignoring case. */
export function searchNames(names: readonly string[], needle: string): string[] {
  const text = needle.trim().toLowerCase();
  return names.filter((name) => name.toLowerCase().includes(text));
}
