import * as z from "zod";
import { authFields } from "../../../core/config/schemas/account-auth-schema.ts";
import { priceSchema } from "../../../core/config/schemas/price-schema.ts";
import { modelRouteSchema } from "../../../core/config/schemas/route-schema.ts";
import { accountViewSchema } from "../accounts/account-view.ts";
import { keyViewSchema } from "../keys/key-view.ts";
import { cacheViewSchema } from "../keys/subject-fields.ts";
import { providerViewSchema } from "../providers/provider-view.ts";
import { proxyViewSchema } from "../providers/proxies.ts";

/** Groups that every view of the configuration shows unmasked (docs/contract/admin-configuration.md, Runtime settings). */
const visibleGroups = () => ({
  model_aliases: z.record(z.string(), z.string()),
  model_routes: z.record(z.string(), modelRouteSchema()),
  callers: z.object({ unknown_keys: z.enum(["auto", "pass_through", "refuse"]), keys_hashed: z.boolean() }),
  prices: z.record(z.string(), priceSchema),
  cache: z.object({ ttl_seconds: z.int(), models: z.record(z.string(), cacheViewSchema()) }),
  runtime: z.object({
    account_max_inflight: z.int(),
    account_max_queue: z.int(),
    global_max_inflight: z.int(),
    account_failovers: z.int(),
    token_refresh_interval_hours: z.number(),
  }),
  responses: z.object({ store_ttl_seconds: z.int() }),
  unknown_models: z.object({ provider: z.string() }),
  embeddings: z.object({ provider: z.string() }),
  default_provider: z.object({ limits: z.looseObject({}), cache: cacheViewSchema() }),
  auto_delete: z.object({ mode: z.enum(["none", "single", "all"]) }),
  current_input_file: z.object({ enabled: z.boolean(), min_chars: z.int() }),
  thinking_injection: z.object({ enabled: z.boolean(), prompt: z.string() }),
  log: z.object({ sample: z.number() }),
  history: z.object({ limit: z.int() }),
  captures: z.object({ enabled: z.boolean(), limit: z.int(), max_body_bytes: z.int() }),
});

export type VisibleGroups = z.output<z.ZodObject<ReturnType<typeof visibleGroups>>>;

/** The visible part of `admin`. */
const adminViewSchema = () =>
  z.object({
    has_password_hash: z.boolean(),
    jwt_expire_hours: z.number(),
    /** Unix seconds. */
    jwt_valid_after_unix: z.int(),
  });

/** A team, user or tag as it is stored. */
const storedSubjectSchema = () => z.looseObject({ id: z.string(), name: z.string(), remark: z.string() });

/** The configuration without its secrets (docs/contract/admin-configuration.md, Configuration). */
export const configViewSchema = () =>
  z.object({
    keys: z.array(z.string()),
    api_keys: z.array(keyViewSchema()),
    teams: z.array(storedSubjectSchema()),
    users: z.array(storedSubjectSchema()),
    tags: z.array(storedSubjectSchema()),
    accounts: z.array(accountViewSchema()),
    proxies: z.array(proxyViewSchema()),
    providers: z.array(providerViewSchema()),
    ...visibleGroups(),
    admin: adminViewSchema(),
    vercel: z.object({
      has_token: z.boolean(),
      token_preview: z.string(),
      token_source: z.enum(["", "config"]),
      project_id: z.string(),
      team_id: z.string(),
    }),
    env_backed: z.boolean(),
    env_source_present: z.boolean(),
    env_writeback_enabled: z.boolean(),
    config_path: z.string(),
    config_writable: z.boolean(),
  });
export type ConfigView = z.output<ReturnType<typeof configViewSchema>>;

/** The runtime settings (docs/contract/admin-configuration.md, Runtime settings). */
export const settingsViewSchema = () => {
  const groups = visibleGroups();
  return z.object({
    ...groups,
    admin: adminViewSchema().extend({ default_password_warning: z.boolean() }),
    callers: groups.callers.extend({
      unknown_keys_in_force: z.enum(["pass_through", "refuse"]),
      /** The gateway accepts any key: unknown keys go to a provider that probably checks none. */
      unknown_keys_warning: z.boolean(),
      /** A deployment accepts the publicly known key `sk-dev`. */
      development_key_warning: z.boolean(),
    }),
    thinking_injection: groups.thinking_injection.extend({ default_prompt: z.string() }),
    env_backed: z.boolean(),
    config_writable: z.boolean(),
    /** Number of API keys. */
    api_keys: z.int(),
    needs_hosting_sync: z.boolean(),
  });
};
export type SettingsView = z.output<ReturnType<typeof settingsViewSchema>>;

/** The exported configuration: complete, except for the secret that signs tokens. */
export const exportedConfigSchema = () => {
  const groups = visibleGroups();
  return z.object({
    keys: z.array(z.string()),
    api_keys: z.array(z.looseObject({ key: z.string(), name: z.string(), remark: z.string() })),
    teams: z.array(storedSubjectSchema()),
    users: z.array(storedSubjectSchema()),
    tags: z.array(storedSubjectSchema()),
    administrators: z.array(z.looseObject({ id: z.string(), role: z.string() })),
    oidc: z.looseObject({ issuer: z.string(), client_id: z.string() }),
    accounts: z.array(
      z.object({
        email: z.string(),
        mobile: z.string(),
        password: z.string(),
        token: z.string(),
        name: z.string(),
        remark: z.string(),
        proxy_id: z.string(),
        disabled: z.boolean(),
        weight: z.int(),
        provider: z.string().optional(),
        auth: authFields.optional(),
      }),
    ),
    proxies: z.array(proxyViewSchema().omit({ has_password: true }).extend({ password: z.string() })),
    providers: z.array(z.looseObject({ id: z.string(), driver: z.string(), base_url: z.string() })),
    ...groups,
    // Absent until an administrator chooses a value.
    callers: groups.callers.partial({ unknown_keys: true }),
    /** `was_on`: answers may have been cached at some time. */
    cache: groups.cache.extend({ was_on: z.boolean().optional() }),
    admin: z.object({
      password_hash: z.string(),
      jwt_expire_hours: z.number(),
      /** Unix seconds. */
      jwt_valid_after_unix: z.int(),
    }),
    alerts: z.object({
      webhooks: z.array(z.looseObject({})),
      private_hosts: z.array(z.string()),
      rules: z.looseObject({}),
    }),
    guardrails: z.object({
      rules: z.array(z.looseObject({ id: z.string(), type: z.string() })),
      private_hosts: z.array(z.string()),
      unchecked_endpoints: z.enum(["refuse", "allow"]),
    }),
    vercel: z.object({ token: z.string(), project_id: z.string(), team_id: z.string() }),
    /** The last hosting sync: its hash, and its time in Unix seconds. */
    sync: z.object({ hash: z.string(), time: z.int() }),
  });
};
export type ExportedConfig = z.output<ReturnType<typeof exportedConfigSchema>>;
