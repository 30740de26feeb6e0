import { listApiKeys } from "../../../core/config/api-keys.ts";
import { maskText } from "../../../core/config/marked-secrets.ts";
import { type Config, configSchema } from "../../../core/config/schema.ts";
import type { ConfigSnapshot } from "../../../core/config/snapshot.ts";
import type { Context } from "../../../core/ports/context.ts";
import { accountViews } from "../accounts/account-view.ts";
import { maskKey } from "../keys/key-entries.ts";
import { keyView } from "../keys/key-view.ts";
import { providerView } from "../providers/provider-view.ts";
import { proxyView } from "../providers/proxies.ts";
import type { ConfigView, VisibleGroups } from "./config-answers.ts";

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
