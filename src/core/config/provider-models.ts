import { isDotSegment } from "../encoding/path-segment.ts";
import type { ProviderEntry, ProviderModel } from "./schema.ts";

/** An entry of a provider's `models`: the upstream name only, or an object. */
export type ModelEntry = ProviderEntry["models"][string];

/** Normalizes an entry: a plain string is the upstream name. */
export function toProviderModel(said: ModelEntry): ProviderModel {
  return typeof said === "string" ? { upstream: said } : said;
}

/** Suffix of the model variant without thinking. */
const NO_THINKING = /-nothinking$/i;

/**
 * Finds the provider's model for a name: first by listed name, in any case, then by upstream name. A disabled model is
 * disabled under both names, unless the other name has its own entry. `model` is absent for an unknown model.
 */
export function findListedModel(
  { models }: Pick<ProviderEntry, "models">,
  name: string,
): { readonly name: string; readonly model?: ProviderModel } {
  if (Object.hasOwn(models, name)) return { name, model: toProviderModel(models[name] ?? name) };
  const lower = name.toLowerCase();
  const entries = Object.entries(models).map(([listed, said]) => [listed, toProviderModel(said)] as const);
  const alike = entries.find(([listed]) => listed.toLowerCase() === lower);
  if (alike !== undefined) return { name: alike[0], model: alike[1] };
  const called = entries.filter(([, { upstream }]) => upstream === name).map(([, model]) => model);
  const model = called.find(({ enabled }) => enabled !== false) ?? called[0];
  if (model !== undefined) return { name, model };
  // Disabling a model disables all its variants.
  const bare = name.replace(NO_THINKING, "");
  const off = bare === name ? undefined : findListedModel({ models }, bare).model;
  return off?.enabled === false ? { name, model: off } : { name };
}

/**
 * Limits for names that a backend reports, because they are stored in the configuration: characters of a name, and number of
 * models.
 */
const MAX_NAME = 300;
const MAX_MODELS = 5_000;

/** Filters a backend's names: drops those that cannot be listed as models. */
export function filterUsableNames(names: readonly string[]): string[] {
  return names.filter((name) => name.trim() !== "" && name.length <= MAX_NAME && !isDotSegment(name.trim()));
}

/** The names that have no entry yet, neither as listed nor as upstream name, without duplicates. */
function filterUnlistedNames(models: ProviderEntry["models"], names: readonly string[]): string[] {
  const led = new Set(Object.entries(models).map(([name, said]) => toProviderModel(said).upstream ?? name));
  return [...new Set(names)].filter((name) => !Object.hasOwn(models, name) && !led.has(name));
}

/**
 * A backend's new names, up to the limit of entries. They must be counted before they are added: an object puts numeric
 * names first, whenever they were added.
 *
 * @param most limit of names to return
 */
export function selectNewNames(
  models: ProviderEntry["models"],
  names: readonly string[],
  most = MAX_MODELS,
): string[] {
  const room = Math.max(0, MAX_MODELS - Object.keys(models).length);
  return filterUnlistedNames(models, filterUsableNames(names)).slice(0, Math.min(room, most));
}

/** Adds entries for names that are not listed yet. Existing entries keep their edits. */
export function addListedModels(
  models: ProviderEntry["models"],
  names: readonly string[],
  enabled: boolean,
): ProviderEntry["models"] {
  const entries = filterUnlistedNames(models, names).map(
    (name) => [name, enabled ? name : { upstream: name, enabled }] as const,
  );
  return { ...models, ...Object.fromEntries(entries) };
}

/** Upstream names by listed names. */
export function mapUpstreamNames({ models }: Pick<ProviderEntry, "models">): Record<string, string> {
  return Object.fromEntries(
    Object.entries(models).map(([name, said]) => [name, toProviderModel(said).upstream ?? name]),
  );
}

/** A copy of the providers with everything enabled, so that names of disabled models still count as known targets. */
export function withAllEnabled(providers: readonly ProviderEntry[]): ProviderEntry[] {
  return providers.map((entry) => {
    const models = Object.entries(entry.models).map(([name, said]) => [
      name,
      { ...toProviderModel(said), enabled: true },
    ]);
    return { ...entry, enabled: true, models: Object.fromEntries(models) };
  });
}
