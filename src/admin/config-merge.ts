import { allKeys, distinctKeys } from "../config/api-keys.ts";
import {
  type Account,
  accountSchema,
  type Config,
  configSchema,
  type ProviderEntry,
} from "../config/schema.ts";
import { isObject, type JsonObject } from "../encoding/json.ts";
import { once } from "../encoding/lazy-schema.ts";
import { hasIdentity, identifiers } from "./identifiers.ts";
import { mergedKeys } from "./key-entries.ts";

/** The groups whose non-empty fields a merge overwrites (contract, Import details). */
const OVERWRITTEN = ["admin", "runtime", "responses", "embeddings"] as const;

/** What an account says that says nothing. */
const defaults = once((): ReadonlyMap<string, unknown> => new Map(Object.entries(accountSchema.parse({}))));

const isEmpty = (value: unknown): boolean =>
  value === undefined || value === null || value === "" || value === 0;

/** The fields of a parsed group that the imported text really has, and that are not empty. */
function givenFields(raw: unknown, parsed: object): Record<string, unknown> {
  if (!isObject(raw)) return {};
  return Object.fromEntries(Object.entries(parsed).filter(([name]) => !isEmpty(raw[name])));
}

/** What a parsed account says for sure: fields that its raw form has or, when there is none, that are not the defaults. */
function saidOf({ email: _same, ...account }: Account, raw?: unknown): Partial<Account> {
  const isSaid = ([name, value]: [string, unknown]) =>
    isObject(raw) ? raw[name] !== undefined && value !== "" : value !== defaults().get(name);
  return Object.fromEntries(Object.entries(account).filter(isSaid));
}

/**
 * Accounts are the same when their identifiers are, whatever the case. The present ones keep their places.
 *
 * @param added left out are those that nothing identifies
 * @param raw what the added ones were parsed from, one for one
 */
async function mergedAccounts(
  present: readonly Account[],
  added: readonly Account[],
  raw: readonly unknown[] = [],
): Promise<Account[]> {
  const all = [...present, ...added];
  const ids = await identifiers({ accounts: all });
  const merged = new Map<string, Account>();
  for (const [index, account] of all.entries()) {
    if (index >= present.length && !hasIdentity(account)) continue;
    const id = (ids[index] ?? "").toLowerCase();
    const known = merged.get(id);
    const said = known && saidOf(account, raw[index - present.length]);
    merged.set(id, known === undefined ? account : { ...known, ...said });
  }
  return [...merged.values()];
}

/** Providers are the same when their ids are. Of one that is there already, what the imported one says counts; their models are combined. */
function mergedProviders(
  present: readonly ProviderEntry[],
  added: readonly ProviderEntry[],
  raw: unknown,
): ProviderEntry[] {
  const merged = new Map(present.map((entry) => [entry.id.toLowerCase(), entry]));
  for (const [index, entry] of added.entries()) {
    const known = merged.get(entry.id.toLowerCase());
    const sent: unknown = Array.isArray(raw) ? raw[index] : undefined;
    const said = isObject(sent) ? Object.entries(entry).filter(([name]) => sent[name] !== undefined) : [];
    const isTold = ([name, value]: [string, unknown]) => name !== "id" && (name !== "token" || value !== "");
    const told = Object.fromEntries(said.filter(isTold));
    const models = { ...known?.models, ...entry.models };
    merged.set(entry.id.toLowerCase(), known === undefined ? entry : { ...known, ...told, models });
  }
  return [...merged.values()];
}

/** Lists without repetitions and without accounts that nothing identifies. */
export async function tidied(config: Config): Promise<Config> {
  const api_keys = await distinctKeys(allKeys(config));
  return { ...config, keys: [], api_keys, accounts: await mergedAccounts([], config.accounts) };
}

/**
 * Adds an imported configuration to the present one (contract, Import details): keys, accounts, providers, aliases and prices are combined,
 * non-empty fields of `admin`, `runtime`, `responses` and `embeddings` overwrite; nothing else changes, but that proxies
 * which imported accounts are bound to come with them.
 *
 * @param imported the parsed configuration
 * @param raw what it was parsed from, to tell what was given from what is a default
 */
export async function mergedConfig(config: Config, imported: Config, raw: JsonObject): Promise<Config> {
  const { accounts: sent } = raw;
  const accounts = await mergedAccounts(
    config.accounts,
    imported.accounts,
    Array.isArray(sent) ? sent : undefined,
  );
  const known = new Set(config.proxies.map(({ id }) => id));
  const bound = new Set([...imported.accounts, ...imported.providers].map(({ proxy_id }) => proxy_id));
  const groups = OVERWRITTEN.map((name) => [
    name,
    { ...config[name], ...givenFields(raw[name], imported[name]) },
  ]);
  return configSchema.parse({
    ...config,
    ...Object.fromEntries(groups),
    keys: [],
    api_keys: await mergedKeys(allKeys(config), allKeys(imported)),
    accounts,
    proxies: [...config.proxies, ...imported.proxies.filter(({ id }) => bound.has(id) && !known.has(id))],
    providers: mergedProviders(config.providers, imported.providers, raw["providers"]),
    model_aliases: { ...config.model_aliases, ...imported.model_aliases },
    model_routes: { ...config.model_routes, ...imported.model_routes },
    prices: { ...config.prices, ...imported.prices },
  });
}

/**
 * Puts an imported configuration in the place of the present one (contract, Import details). The metadata of the hosting
 * sync stays, and so does what an export leaves out: the secret that signs tokens, unless the import brings one.
 */
export async function replacedConfig(config: Config, imported: Config): Promise<Config> {
  const { jwt_secret } = imported.admin;
  return tidied({
    ...imported,
    admin: { ...imported.admin, jwt_secret: jwt_secret || config.admin.jwt_secret },
    sync: config.sync,
  });
}
