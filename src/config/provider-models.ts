import { isDots } from "../encoding/path-segment.ts";
import type { ProviderEntry, ProviderModel } from "./schema.ts";

/** What a provider's `models` says of one: its name there, or more. */
export type SaidOfModel = ProviderEntry["models"][string];

/** What is known of a model: a name alone is what the provider calls it. */
export function modelOf(said: SaidOfModel): ProviderModel {
  return typeof said === "string" ? { upstream: said } : said;
}

/** What ends the name of a model that is asked not to think. */
const NO_THINKING = /-nothinking$/i;

/**
 * The model of a provider that a name means: by the name that it is listed by, in any case, else by what the provider calls it.
 * What is switched off by one name is so by the other, unless there is another entry for it. `model` is absent for one of which nothing is known.
 */
export function listedModel(
  { models }: Pick<ProviderEntry, "models">,
  name: string,
): { readonly name: string; readonly model?: ProviderModel } {
  if (Object.hasOwn(models, name)) return { name, model: modelOf(models[name] ?? name) };
  const lower = name.toLowerCase();
  const entries = Object.entries(models).map(([listed, said]) => [listed, modelOf(said)] as const);
  const alike = entries.find(([listed]) => listed.toLowerCase() === lower);
  if (alike !== undefined) return { name: alike[0], model: alike[1] };
  const called = entries.filter(([, { upstream }]) => upstream === name).map(([, model]) => model);
  const model = called.find(({ enabled }) => enabled !== false) ?? called[0];
  if (model !== undefined) return { name, model };
  // A model that is switched off is so in all its variants.
  const bare = name.replace(NO_THINKING, "");
  const off = bare === name ? undefined : listedModel({ models }, bare).model;
  return off?.enabled === false ? { name, model: off } : { name };
}

/** A backend's word for its names goes into the configuration: no longer ones, and no more than these. */
const MAX_NAME = 300;
const MAX_MODELS = 5_000;

/** Names that a backend tells, without those that no model can be listed by. */
export function usableNames(names: readonly string[]): string[] {
  return names.filter((name) => name.trim() !== "" && name.length <= MAX_NAME && !isDots(name.trim()));
}

/** Names of which nothing is listed yet, each once: what is listed by whatever name is. */
function unlisted(models: ProviderEntry["models"], names: readonly string[]): string[] {
  const led = new Set(Object.entries(models).map(([name, said]) => modelOf(said).upstream ?? name));
  return [...new Set(names)].filter((name) => !Object.hasOwn(models, name) && !led.has(name));
}

/**
 * Those of a backend's names that are new, as far as there is room for them. They are counted before they are listed: in an object
 * names that are numbers come first, whenever they came into it.
 *
 * @param most no more than these at once
 */
export function newNames(
  models: ProviderEntry["models"],
  names: readonly string[],
  most = MAX_MODELS,
): string[] {
  const room = Math.max(0, MAX_MODELS - Object.keys(models).length);
  return unlisted(models, usableNames(names)).slice(0, Math.min(room, most));
}

/** What is listed, and what of some names is not: what is listed by whatever name stays as it was edited. */
export function withListed(
  models: ProviderEntry["models"],
  names: readonly string[],
  enabled: boolean,
): ProviderEntry["models"] {
  const entries = unlisted(models, names).map(
    (name) => [name, enabled ? name : { upstream: name, enabled }] as const,
  );
  return { ...models, ...Object.fromEntries(entries) };
}

/** The names by which a provider's models are called by the provider, by those that they are listed by. */
export function upstreamNames({ models }: Pick<ProviderEntry, "models">): Record<string, string> {
  return Object.fromEntries(
    Object.entries(models).map(([name, said]) => [name, modelOf(said).upstream ?? name]),
  );
}

/** Providers with everything switched on: what leads to something that is switched off leads somewhere all the same. */
export function allSwitchedOn(providers: readonly ProviderEntry[]): ProviderEntry[] {
  return providers.map((entry) => {
    const models = Object.entries(entry.models).map(([name, said]) => [
      name,
      { ...modelOf(said), enabled: true },
    ]);
    return { ...entry, enabled: true, models: Object.fromEntries(models) };
  });
}
