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

/** Returns the names that contain a text, ignoring case. */
export function searchNames(names: readonly string[], needle: string): string[] {
  const text = needle.trim().toLowerCase();
  return names.filter((name) => name.toLowerCase().includes(text));
}
