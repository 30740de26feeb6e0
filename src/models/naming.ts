import { listedModel, modelOf } from "../config/provider-models.ts";
import { type Config, DEFAULT_PROVIDER, type ProviderEntry, type ProviderModel } from "../config/schema.ts";
import type { CatalogueModel } from "../conversation/model.ts";
import { nameInPath } from "../conversation/model-path.ts";
import { findDriver } from "../provider/drivers.ts";
import { catalogueModel } from "./catalogue.ts";

/** What of the configuration says which names stand for which models. */
export type Naming = Partial<Pick<Config, "model_aliases" | "model_routes" | "providers" | "unknown_models">>;

/** What a table says of a name: as it is written, else of the first that differs in case alone. */
function saidOf<T>(table: Readonly<Record<string, T>>, name: string): T | undefined {
  if (Object.hasOwn(table, name)) return table[name];
  const lower = name.toLowerCase();
  return Object.entries(table).find(([entry]) => entry.toLowerCase() === lower)?.[1];
}

/** The target of a configured alias. */
export function configuredAlias(name: string, { model_aliases = {} }: Naming): string | undefined {
  return saidOf(model_aliases, name);
}

/** What a configured route names, in order. */
export function configuredRoute(
  name: string,
  { model_routes = {} }: Naming,
): readonly { readonly model: string; readonly weight?: number | undefined }[] | undefined {
  return saidOf(model_routes, name)?.map((target) =>
    typeof target === "string" ? { model: target } : target,
  );
}

/** What `provider/model` stands for: a model of a configured provider, by any name that the provider knows. */
export function modelOfProvider(name: string, { providers = [] }: Naming): CatalogueModel | undefined {
  if (providers.length === 0) return undefined;
  const slash = name.indexOf("/");
  const id = name.slice(0, Math.max(0, slash)).toLowerCase();
  const own = name.slice(slash + 1);
  if (id === "" || own === "") return undefined;
  const provider = providers.find((entry) => entry.enabled && entry.id.toLowerCase() === id);
  return provider === undefined ? undefined : modelAsked(provider, own);
}

/** What a name stands for that nobody knows: a model of the provider that such names go to, if there is one. */
export function unknownModelAt(
  name: string,
  { providers = [], unknown_models }: Naming,
): CatalogueModel | undefined {
  const id = unknown_models?.provider ?? "";
  if (id === "" || name === "") return undefined;
  if (id === DEFAULT_PROVIDER) return { id: name, upstream: name, ...OWN_ABILITIES };
  const provider = providers.find((entry) => entry.enabled && entry.id === id);
  return provider === undefined ? undefined : modelAsked(provider, name);
}

/** A model by a name that a caller may have made up; one that the configuration lists is what that says. */
function modelAsked(provider: ProviderEntry, asked: string): CatalogueModel | undefined {
  const isListed = listedModel(provider, asked).model !== undefined;
  const inPath = findDriver(provider.driver)?.modelNamesInPaths === true;
  const name = isListed || !inPath ? asked : nameInPath(asked);
  return name === undefined ? undefined : modelAt(provider, name);
}

/** The models that providers beside the default one are said to have, but for those that are switched off. */
export function modelsOfProviders({ providers = [] }: Naming): CatalogueModel[] {
  return providers
    .filter(({ enabled }) => enabled)
    .flatMap((provider) => Object.keys(provider.models).flatMap((name) => modelAt(provider, name) ?? []));
}

/** Of a backend's own models nothing is known: it says itself what they cannot do. */
const OWN_ABILITIES = { thinking: true, search: false, vision: true };

/** A model of a provider, by any name; undefined for one that is switched off. */
function modelAt(provider: ProviderEntry, name: string): CatalogueModel | undefined {
  const { name: listed, model } = listedModel(provider, name);
  if (model?.enabled === false) return undefined;
  const { vision, search } = model ?? {};
  const seeing = vision === false ? otherModel(provider, "vision", model) : undefined;
  const searching = search === false ? otherModel(provider, "search", model) : undefined;
  return {
    ...describedModel(provider, listed, model),
    ...(seeing === undefined ? {} : { sighted: seeing }),
    ...(searching === undefined ? {} : { searching }),
  };
}

/** What is known of one model, and nothing of those that may take its place. */
function describedModel(
  { id: provider, driver }: ProviderEntry,
  name: string,
  model: ProviderModel = {},
): CatalogueModel {
  const described = findDriver(driver)?.servesCatalogue === true;
  const canonical = described ? catalogueModel(name.toLowerCase()) : undefined;
  const { thinking, search, vision } = canonical ?? OWN_ABILITIES;
  const { context, output } = model;
  return {
    id: `${provider}/${name}`,
    upstream: model.upstream ?? canonical?.upstream ?? name,
    provider,
    thinking: model.thinking ?? thinking,
    search: model.search ?? search,
    vision: model.vision ?? vision,
    ...(context === undefined ? {} : { context }),
    ...(output === undefined ? {} : { output }),
  };
}

/** The first model of a provider of which it is known that it can do something: rather one that thinks, if this one does. */
function otherModel(
  provider: ProviderEntry,
  ability: "vision" | "search",
  { thinking }: ProviderModel = {},
): CatalogueModel | undefined {
  const able = Object.entries(provider.models)
    .map(([name, said]) => [name, modelOf(said)] as const)
    .filter(([, model]) => model.enabled !== false && model[ability] === true);
  const [name, model] = able.find((entry) => entry[1].thinking === thinking) ?? able[0] ?? [];
  return name === undefined ? undefined : describedModel(provider, name, model);
}
