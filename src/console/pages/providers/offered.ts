import type { ListedModel } from "./model-list.ts";

/** Of the names that a provider offers those under which none of its models is listed yet. */
export function unlisted(offered: readonly string[], models: readonly ListedModel[]): string[] {
  const listed = new Set(models.flatMap(({ name, upstream }) => [name, upstream]));
  return offered.filter((name) => !listed.has(name));
}

/** The listed models that a provider does not offer any more. */
export function gone(offered: readonly string[], models: readonly ListedModel[]): ListedModel[] {
  const there = new Set(offered);
  return models.filter(({ upstream }) => !there.has(upstream));
}

/** The names that have a text in them, whatever its case. */
export function namesWith(names: readonly string[], needle: string): string[] {
  const text = needle.trim().toLowerCase();
  return names.filter((name) => name.toLowerCase().includes(text));
}
