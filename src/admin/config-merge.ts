import { allKeys, distinctKeys } from "../config/api-keys.ts";
import { type Account, type Config, configSchema } from "../config/schema.ts";
import { isObject, type JsonObject } from "../encoding/json.ts";
import { hasIdentity, identifiers } from "./identifiers.ts";
import { mergedKeys } from "./key-entries.ts";

/** The groups whose non-empty fields a merge overwrites (contract, Import details). */
const OVERWRITTEN = ["admin", "runtime", "responses", "embeddings"] as const;

const isEmpty = (value: unknown): boolean =>
  value === undefined || value === null || value === "" || value === 0;

/** The fields of a parsed group that the imported text really has, and that are not empty. */
function givenFields(raw: unknown, parsed: object): Record<string, unknown> {
  if (!isObject(raw)) return {};
  return Object.fromEntries(Object.entries(parsed).filter(([name]) => !isEmpty(raw[name])));
}

/** The same account with what another entry of the same identifier says about it. */
function enriched(account: Account, { email: _same, ...other }: Account): Account {
  const said = Object.entries(other).filter(([, value]) => value !== "");
  return { ...account, ...Object.fromEntries(said) };
}

/** Accounts are the same when their identifiers are, whatever the case. The present ones keep their places. */
async function mergedAccounts(present: readonly Account[], added: readonly Account[]): Promise<Account[]> {
  const all = [...present, ...added];
  const ids = await identifiers({ accounts: all });
  const merged = new Map<string, Account>();
  for (const [index, account] of all.entries()) {
    const id = (ids[index] ?? "").toLowerCase();
    const known = merged.get(id);
    merged.set(id, known === undefined ? account : enriched(known, account));
  }
  return [...merged.values()];
}

/** Lists without repetitions and without accounts that nothing identifies. */
export async function tidied(config: Config): Promise<Config> {
  const accounts = config.accounts.filter(hasIdentity);
  const api_keys = await distinctKeys(allKeys(config));
  return { ...config, keys: [], api_keys, accounts: await mergedAccounts([], accounts) };
}

/**
 * Adds an imported configuration to the present one (contract, Import details): keys, accounts, aliases and prices are combined,
 * non-empty fields of `admin`, `runtime`, `responses` and `embeddings` overwrite; nothing else changes, but that proxies
 * which imported accounts are bound to come with them.
 *
 * @param imported the parsed configuration
 * @param raw what it was parsed from, to tell what was given from what is a default
 */
export async function mergedConfig(config: Config, imported: Config, raw: JsonObject): Promise<Config> {
  const accounts = await mergedAccounts(config.accounts, (await tidied(imported)).accounts);
  const known = new Set(config.proxies.map(({ id }) => id));
  const bound = new Set(imported.accounts.map(({ proxy_id }) => proxy_id));
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
    model_aliases: { ...config.model_aliases, ...imported.model_aliases },
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
