import { keyIdentifier, listApiKeys } from "../../../core/config/api-keys.ts";
import { type Config, configSchema } from "../../../core/config/schema.ts";
import { type Account, accountSchema } from "../../../core/config/schemas/account-schema.ts";
import type { ApiKey } from "../../../core/config/schemas/key-schema.ts";
import type { Proxy as ConfiguredProxy } from "../../../core/config/schemas/proxy-schema.ts";
import { maskText } from "../../../core/config/secret-masking.ts";
import type { ConfigSnapshot } from "../../../core/config/snapshot.ts";
import type { AccountActivity, AccountHealth } from "../../../core/ports/account-status.ts";
import type { Context } from "../../../core/ports/context.ts";
import { authView } from "../accounts/account-auth.ts";
import { accountIdentifiers } from "../accounts/account-identifiers.ts";
import type { AccountView, KeyView, ProxyView } from "../answers.ts";
import { maskKey } from "../keys/key-entries.ts";
import { providerView } from "../providers/provider-view.ts";
import type { ConfigView, VisibleGroups } from "./config-answers.ts";

const NO_REQUESTS = { requests: 0, succeeded: 0 };

function activityView(activity?: AccountActivity): AccountView["activity"] {
  return {
    in_flight: activity?.inFlight ?? 0,
    last_used: activity?.lastUsed ?? 0,
    last_success: activity?.lastSuccess ?? 0,
    last_fault: activity?.lastFault ?? null,
    last_hour: activity?.hour ?? NO_REQUESTS,
    last_day: activity?.day ?? NO_REQUESTS,
  };
}

/** The masked view of an account. `health` comes from the pool. */
function accountView(account: Account, identifier: string, health?: AccountHealth): AccountView {
  const { email, mobile, name, remark, proxy_id } = account;
  const token = health?.token ?? account.token;
  return {
    identifier,
    email,
    mobile,
    has_password: account.password !== "",
    has_token: token !== "",
    token_preview: maskText(accountSchema.shape.token, account.auth?.access_key_id ?? token),
    test_status: health?.testStatus ?? "",
    name,
    remark,
    proxy_id,
    disabled: account.disabled,
    weight: account.weight,
    condition: health?.condition ?? (account.disabled ? "disabled" : "untested"),
    provider: account.provider ?? "",
    auth: authView(account),
    cooldown: health?.cooldown ?? null,
    quotas: health?.quotas ?? [],
    activity: activityView(health?.activity),
  };
}

/** The view of a proxy. */
export function proxyView({ password, ...proxy }: ConfiguredProxy): ProxyView {
  return { ...proxy, has_password: password !== "" };
}

/** The masked view of an API key. */
export async function keyView(entry: ApiKey): Promise<KeyView> {
  const {
    limits = {},
    models = [],
    dialects = [],
    networks = [],
    allowed_tags = [],
    guardrails = [],
  } = entry;
  return {
    key: maskKey(entry),
    id: await keyIdentifier(entry),
    name: entry.name,
    remark: entry.remark,
    created: entry.created ?? 0,
    expires: entry.expires ?? 0,
    disabled: entry.disabled ?? false,
    hashed: entry.key === "",
    grace_until: Math.max(0, ...(entry.previous ?? []).map(({ until }) => until)),
    team: entry.team ?? "",
    user: entry.user ?? "",
    limits,
    models,
    dialects,
    networks,
    allowed_tags,
    guardrails,
    history: entry.history ?? "full",
    cache: entry.cache ?? {},
  };
}

/** Reads the pool's health data of the named accounts, or of all. */
export async function readHealthById(
  { platform }: Context,
  ids?: readonly string[],
): Promise<Map<string, AccountHealth>> {
  const entries = ids?.length === 0 ? [] : await platform.accounts.getHealth(ids);
  return new Map(entries.map((entry) => [entry.id, entry]));
}

/**
 * Returns the views of a configuration's accounts, in order. `places`: only the accounts with these indexes. `all`: health
 * data that was already read.
 */
export async function accountViews(
  context: Context,
  config: Config,
  places?: readonly number[],
  all?: ReadonlyMap<string, AccountHealth>,
): Promise<AccountView[]> {
  const names = await accountIdentifiers(config);
  const indexes = places ?? config.accounts.map((_, index) => index);
  const ids = indexes.flatMap((index) => names[index] ?? []);
  const health = all ?? (await readHealthById(context, places === undefined ? undefined : ids));
  return indexes.flatMap((index) => {
    const account = config.accounts[index];
    const id = names[index] ?? "";
    return account === undefined ? [] : [accountView(account, id, health.get(id))];
  });
}

/** Location of the configuration, as text for administrators. */
function configPath(context: Context, { envBacked, writable }: ConfigSnapshot): string {
  if (envBacked && !writable) return "env:GATEWAY_CONFIG_JSON";
  return context.platform.configPath;
}

/** Groups that every view of a configuration shows unmasked. */
export function visibleSettings(config: Config): VisibleGroups {
  return {
    model_aliases: config.model_aliases,
    model_routes: config.model_routes,
    prices: config.prices,
    cache: { ttl_seconds: config.cache.ttl_seconds, models: config.cache.models },
    callers: { ...config.callers, unknown_keys: config.callers.unknown_keys ?? "auto" },
    runtime: config.runtime,
    responses: config.responses,
    unknown_models: config.unknown_models,
    embeddings: config.embeddings,
    default_provider: config.default_provider,
    auto_delete: config.auto_delete,
    current_input_file: config.current_input_file,
    thinking_injection: config.thinking_injection,
    log: config.log,
    history: config.history,
    captures: config.captures,
  };
}

/** The visible part of `admin`, for every view of a configuration. */
export function adminView({ admin }: Config): ConfigView["admin"] {
  return {
    has_password_hash: admin.password_hash !== "",
    jwt_expire_hours: admin.jwt_expire_hours,
    jwt_valid_after_unix: admin.jwt_valid_after_unix,
  };
}

/** The configuration without its secrets (docs/contract/admin-configuration.md, Configuration). */
export async function configView(context: Context, snapshot: ConfigSnapshot): Promise<ConfigView> {
  const { config } = snapshot;
  const { variables } = context.platform;
  const keys = listApiKeys(config);
  const { token, project_id, team_id } = config.vercel;
  return {
    keys: keys.map(maskKey),
    api_keys: await Promise.all(keys.map(keyView)),
    teams: config.teams,
    users: config.users,
    tags: config.tags,
    accounts: await accountViews(context, config),
    proxies: config.proxies.map(proxyView),
    providers: config.providers.map((entry) => providerView(config, entry)),
    ...visibleSettings(config),
    admin: adminView(config),
    vercel: {
      has_token: token !== "",
      token_preview: maskText(configSchema.shape.vercel.unwrap().shape.token, token),
      token_source: token === "" ? "" : "config",
      project_id,
      team_id,
    },
    env_backed: snapshot.envBacked,
    env_source_present: variables.configJson !== null,
    env_writeback_enabled: variables.configWriteback,
    config_path: configPath(context, snapshot),
    config_writable: snapshot.writable,
  };
}
