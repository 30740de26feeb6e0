import type { Config, ProviderEntry } from "../config/schema.ts";
import type { CatalogueModel } from "../conversation/model.ts";
import { catalogueModel } from "./catalogue.ts";

/** What of the configuration says which names stand for which models. */
export type Naming = Partial<Pick<Config, "model_aliases" | "providers">>;

/** The target of a configured alias: of the name as it is written, else of the first that differs in case alone. */
export function configuredAlias(name: string, { model_aliases: aliases = {} }: Naming): string | undefined {
  if (Object.hasOwn(aliases, name)) return aliases[name];
  const lower = name.toLowerCase();
  return Object.entries(aliases).find(([alias]) => alias.toLowerCase() === lower)?.[1];
}

/** What `provider/model` stands for: a model of a configured provider, by any name that the provider knows. */
export function modelOfProvider(name: string, { providers = [] }: Naming): CatalogueModel | undefined {
  if (providers.length === 0) return undefined;
  const slash = name.indexOf("/");
  const id = name.slice(0, Math.max(0, slash)).toLowerCase();
  const own = name.slice(slash + 1);
  if (id === "" || own === "") return undefined;
  const provider = providers.find((entry) => entry.enabled && entry.id.toLowerCase() === id);
  return provider === undefined ? undefined : modelAt(provider, own);
}

function modelAt({ id: provider, models }: ProviderEntry, name: string): CatalogueModel {
  const canonical = catalogueModel(name.toLowerCase());
  const mapped = Object.hasOwn(models, name) ? models[name] : undefined;
  return {
    // Of a backend's own models nothing is known: it says itself what they cannot do.
    ...(canonical ?? { thinking: true, search: false, vision: true }),
    id: `${provider}/${name}`,
    upstream: mapped ?? canonical?.upstream ?? name,
    provider,
  };
}
