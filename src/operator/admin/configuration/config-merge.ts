import { listApiKeys, removeDuplicateKeys } from "../../../core/config/api-keys.ts";
import { type Config, configSchema } from "../../../core/config/schema.ts";
import { type Account, accountSchema } from "../../../core/config/schemas/account-schema.ts";
import type { ProviderEntry } from "../../../core/config/schemas/provider-schema.ts";
import { isObject, type JsonObject } from "../../../core/encoding/json.ts";
import { once } from "../../../core/encoding/once.ts";
import { accountIdentifiers, hasIdentity } from "../account-identifiers.ts";
import { mergeKeys } from "../keys/key-entries.ts";

/**
 * Groups in which a merge takes the fields of the import that are not empty
 * (docs/contract/admin-configuration.md, Import details).
 */
const OVERWRITTEN_GROUPS = ["admin", "runtime", "responses", "embeddings"] as const;

/** Default values of an account's fields. */
const accountDefaults = once(
  (): ReadonlyMap<string, unknown> => new Map(Object.entries(accountSchema.parse({}))),
);

const isEmpty = (value: unknown): boolean =>
  value === undefined || value === null || value === "" || value === 0;

/** Returns the fields of a parsed group that the imported text contains and that are not empty. */
function givenFields(raw: unknown, parsed: object): Record<string, unknown> {
  if (!isObject(raw)) return {};
  return Object.fromEntries(Object.entries(parsed).filter(([name]) => !isEmpty(raw[name])));
}

/**
 * Returns the fields that an import really sets: those of its raw form or, without one, those that differ from the
 * defaults.
 */
function sentAccountFields({ email: _same, ...account }: Account, raw?: unknown): Partial<Account> {
  const isSent = ([name, value]: [string, unknown]) =>
    isObject(raw) ? raw[name] !== undefined && value !== "" : value !== accountDefaults().get(name);
  return Object.fromEntries(Object.entries(account).filter(isSent));
}

/**
 * Merges two lists of accounts. Accounts are equal if their identifiers are, ignoring case. Present accounts keep their
 * positions.
 *
 * @param added accounts without any identity are skipped
 * @param raw the unparsed form of each added account
 */
async function mergeAccounts(
  present: readonly Account[],
  added: readonly Account[],
  raw: readonly unknown[] = [],
): Promise<Account[]> {
  const all = [...present, ...added];
  const ids = await accountIdentifiers({ accounts: all });
  const merged = new Map<string, Account>();
  for (const [index, account] of all.entries()) {
    if (index >= present.length && !hasIdentity(account)) continue;
    const id = (ids[index] ?? "").toLowerCase();
    const stored = merged.get(id);
    const sentFields = stored && sentAccountFields(account, raw[index - present.length]);
    merged.set(id, stored === undefined ? account : { ...stored, ...sentFields });
  }
  return [...merged.values()];
}

/**
 * Merges two lists of providers by id. For an existing provider the sent fields of the import win; the models are combined.
 */
function mergeProviders(
  present: readonly ProviderEntry[],
  added: readonly ProviderEntry[],
  raw: unknown,
): ProviderEntry[] {
  const merged = new Map(present.map((entry) => [entry.id.toLowerCase(), entry]));
  for (const [index, entry] of added.entries()) {
    const stored = merged.get(entry.id.toLowerCase());
    const sent: unknown = Array.isArray(raw) ? raw[index] : undefined;
    const sentFields = isObject(sent)
      ? Object.entries(entry).filter(([name]) => sent[name] !== undefined)
      : [];
    const isSet = ([name, value]: [string, unknown]) => name !== "id" && (name !== "token" || value !== "");
    const changes = Object.fromEntries(sentFields.filter(isSet));
    const models = { ...stored?.models, ...entry.models };
    merged.set(entry.id.toLowerCase(), stored === undefined ? entry : { ...stored, ...changes, models });
  }
  return [...merged.values()];
}

/** Merges two lists of teams, users, tags or administrators by id. The sent fields of an existing entry win. */
function mergeEntries<Entry extends { readonly id: string }>(
  present: readonly Entry[],
  added: readonly Entry[],
  raw: unknown,
): Entry[] {
  const merged = new Map(present.map((entry) => [entry.id, entry]));
  for (const [index, entry] of added.entries()) {
    const sent: unknown = Array.isArray(raw) ? raw[index] : undefined;
    const sentFields = Object.entries(entry).filter(([name]) => isObject(sent) && sent[name] !== undefined);
    const stored = merged.get(entry.id);
    merged.set(entry.id, stored === undefined ? entry : { ...stored, ...Object.fromEntries(sentFields) });
  }
  return [...merged.values()];
}

/** Removes duplicates from the lists, and accounts without any identity. */
export async function deduplicateConfig(config: Config): Promise<Config> {
  const api_keys = await removeDuplicateKeys(listApiKeys(config));
  return { ...config, keys: [], api_keys, accounts: await mergeAccounts([], config.accounts) };
}

/**
 * Merges an imported configuration into the present one (docs/contract/admin-configuration.md, Import details):
 *
 * - Keys, teams, users, tags, administrators, accounts, providers, aliases, prices and caches of models are combined.
 * - Non-empty fields of `admin`, `runtime`, `responses` and `embeddings` overwrite.
 * - Proxies of imported accounts and providers are added, and guardrails that imported keys, teams, users and tags name.
 *
 * Nothing else changes.
 *
 * @param imported the parsed configuration
 * @param raw its unparsed form, to distinguish sent values from defaults
 */
export async function mergeConfig(config: Config, imported: Config, raw: JsonObject): Promise<Config> {
  const { accounts: sent } = raw;
  const accounts = await mergeAccounts(
    config.accounts,
    imported.accounts,
    Array.isArray(sent) ? sent : undefined,
  );
  const knownProxies = new Set(config.proxies.map(({ id }) => id));
  const usedProxies = new Set([...imported.accounts, ...imported.providers].map(({ proxy_id }) => proxy_id));
  const knownRules = new Set(config.guardrails.rules.map(({ id }) => id));
  const { api_keys, teams, users, tags } = imported;
  const namedRules = new Set(
    [...api_keys, ...teams, ...users, ...tags].flatMap(({ guardrails = [] }) => guardrails),
  );
  const groups = OVERWRITTEN_GROUPS.map((name) => [
    name,
    { ...config[name], ...givenFields(raw[name], imported[name]) },
  ]);
  return configSchema.parse({
    ...config,
    ...Object.fromEntries(groups),
    keys: [],
    api_keys: await mergeKeys(listApiKeys(config), listApiKeys(imported)),
    teams: mergeEntries(config.teams, imported.teams, raw["teams"]),
    users: mergeEntries(config.users, imported.users, raw["users"]),
    tags: mergeEntries(config.tags, imported.tags, raw["tags"]),
    administrators: mergeEntries(config.administrators, imported.administrators, raw["administrators"]),
    accounts,
    proxies: [
      ...config.proxies,
      ...imported.proxies.filter(({ id }) => usedProxies.has(id) && !knownProxies.has(id)),
    ],
    guardrails: {
      ...config.guardrails,
      rules: [
        ...config.guardrails.rules,
        ...imported.guardrails.rules.filter(({ id }) => namedRules.has(id) && !knownRules.has(id)),
      ],
    },
    providers: mergeProviders(config.providers, imported.providers, raw["providers"]),
    model_aliases: { ...config.model_aliases, ...imported.model_aliases },
    model_routes: { ...config.model_routes, ...imported.model_routes },
    prices: { ...config.prices, ...imported.prices },
    cache: {
      ttl_seconds: imported.cache.ttl_seconds || config.cache.ttl_seconds,
      models: { ...config.cache.models, ...imported.cache.models },
    },
  });
}

/**
 * Replaces the present configuration by an imported one (docs/contract/admin-configuration.md, Import details). The
 * metadata of the hosting sync stays. The secret that signs tokens stays too, unless the import has one, because
 * exports do not contain it.
 */
export async function replaceConfig(config: Config, imported: Config): Promise<Config> {
  const { jwt_secret } = imported.admin;
  return deduplicateConfig({
    ...imported,
    admin: { ...imported.admin, jwt_secret: jwt_secret || config.admin.jwt_secret },
    sync: config.sync,
  });
}
