import { findEntryIgnoringCase } from "../encoding/find-ignoring-case.ts";
import { isDotSegment } from "../encoding/path-segment.ts";
import { isReservedName } from "../encoding/reserved-name.ts";
import type { ProviderEntry, ProviderModel } from "./schemas/provider-schema.ts";

/** An entry of a provider's `models`: the upstream name only, or an object. */
export type ModelEntry = ProviderEntry["models"][string];

/** Normalizes an entry: a plain string is the upstream name. */
export function toProviderModel(entry: ModelEntry): ProviderModel {
  return typeof entry === "string" ? { upstream: entry } : entry;
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
  const listed = findEntryIgnoringCase(models, name);
  if (listed !== undefined) return { name: listed[0], model: toProviderModel(listed[1]) };
  const byUpstream = Object.values(models)
    .map(toProviderModel)
    .filter(({ upstream }) => upstream === name);
  const model = byUpstream.find(({ enabled }) => enabled !== false) ?? byUpstream[0];
  if (model !== undefined) return { name, model };
  // Disabling a model disables all its variants.
  const baseName = name.replace(NO_THINKING, "");
  const baseModel = baseName === name ? undefined : findListedModel({ models }, baseName).model;
  return baseModel?.enabled === false ? { name, model: baseModel } : { name };
}

/**
 * Limits for names that a backend reports, because they are stored in the configuration: characters of a name, and number of
 * models.
 */
const MAX_NAME = 300;
const MAX_MODELS = 5_000;

/** Control characters, lone surrogates, and what changes the direction of text: they would disguise a name in lists. */
const INVISIBLE = /[\p{Cc}\p{Cs}\u202a-\u202e\u2066-\u2069]/u;

/** Whether a backend's name can be listed as a model. */
export function isUsableName(name: string): boolean {
  const trimmed = name.trim();
  const hasLength = trimmed !== "" && name.length <= MAX_NAME;
  return hasLength && !INVISIBLE.test(name) && !isDotSegment(trimmed) && !isReservedName(trimmed);
}

/** The names that have no entry yet, neither as listed nor as upstream name, without duplicates. */
function filterUnlistedNames(models: ProviderEntry["models"], names: readonly string[]): string[] {
  const targets = new Set(
    Object.entries(models).map(([name, entry]) => toProviderModel(entry).upstream ?? name),
  );
  return [...new Set(names)].filter((name) => !Object.hasOwn(models, name) && !targets.has(name));
}

/**
 * A backend's new names, up to the limit of entries. They must be counted before they are added: an object puts numeric
 * names first, whenever they were added.
 *
 * @param maxCount limit of names to return
 */
export function selectNewNames(
  models: ProviderEntry["models"],
  names: readonly string[],
  maxCount = MAX_MODELS,
): string[] {
  const capacity = Math.max(0, MAX_MODELS - Object.keys(models).length);
  return filterUnlistedNames(models, names.filter(isUsableName)).slice(0, Math.min(capacity, maxCount));
}

/**
 * Adds entries for names that are not listed yet. Existing entries keep their edits.
 *
 * @param describe what is known of a name; null: nothing
 */
export function addListedModels(
  models: ProviderEntry["models"],
  names: readonly string[],
  enabled: boolean,
  describe: (name: string) => ProviderModel | null,
): ProviderEntry["models"] {
  const entries = filterUnlistedNames(models, names).map((name): readonly [string, ModelEntry] => {
    const known = describe(name);
    if (known === null && enabled) return [name, name];
    return [name, { upstream: name, ...known, ...(enabled ? {} : { enabled }) }];
  });
  return { ...models, ...Object.fromEntries(entries) };
}

/**
 * Adds what is known to listed models that lack it. Values that an administrator has set stay; a price counts as one value.
 *
 * @param names listed or upstream names; others are ignored
 */
export function fillListedModels(
  models: ProviderEntry["models"],
  names: readonly string[],
  describe: (upstream: string) => ProviderModel | null,
): ProviderEntry["models"] {
  const chosen = new Set(names);
  return Object.fromEntries(
    Object.entries(models).map(([name, entry]): readonly [string, ModelEntry] => {
      const model = toProviderModel(entry);
      const { upstream = name } = model;
      const known = chosen.has(name) || chosen.has(upstream) ? describe(upstream) : null;
      return [name, known === null ? entry : { ...known, upstream, ...model }];
    }),
  );
}

/** Upstream names by listed names. */
export function mapUpstreamNames({ models }: Pick<ProviderEntry, "models">): Record<string, string> {
  return Object.fromEntries(
    Object.entries(models).map(([name, entry]) => [name, toProviderModel(entry).upstream ?? name]),
  );
}

/** A copy of the providers with everything enabled, so that names of disabled models still count as known targets. */
export function withAllEnabled(providers: readonly ProviderEntry[]): ProviderEntry[] {
  return providers.map((entry) => {
    const models = Object.entries(entry.models).map(([name, model]) => [
      name,
      { ...toProviderModel(model), enabled: true },
    ]);
    return { ...entry, enabled: true, models: Object.fromEntries(models) };
  });
}
