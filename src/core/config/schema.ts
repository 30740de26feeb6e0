import * as z from "zod";
import { lazyObject } from "../encoding/lazy-schema.ts";
import { markSecret } from "./marked-secrets.ts";
import { accountSchema } from "./schemas/account-schema.ts";
import { administratorSchema, oidcSchema } from "./schemas/administrator-schema.ts";
import { alertsSchema } from "./schemas/alert-schema.ts";
import { guardrailSchema, MAX_GUARDRAILS } from "./schemas/guardrail-schema.ts";
import { apiKeySchema } from "./schemas/key-schema.ts";
import { limitsSchema } from "./schemas/limits-schema.ts";
import { priceSchema } from "./schemas/price-schema.ts";
import { providerSchema } from "./schemas/provider-schema.ts";
import { proxySchema } from "./schemas/proxy-schema.ts";
import { cacheSettingSchema, responseCacheSchema } from "./schemas/response-cache-schema.ts";
import { modelRouteSchema } from "./schemas/route-schema.ts";
import { countSchema, privateHostsSchema } from "./schemas/shared-fields.ts";
import { subjectEntrySchema } from "./schemas/subject-schema.ts";

const guardrailsSchema = lazyObject(() => ({
  rules: z.array(guardrailSchema).max(MAX_GUARDRAILS).default([]),
  private_hosts: privateHostsSchema().default([]),
  /** Whether callers with rules may use endpoints whose texts are not checked. */
  unchecked_endpoints: z.enum(["refuse", "allow"]).default("refuse"),
}));

/**
 * The whole configuration with every group of `docs/contract/admin-configuration.md`. Parsing an empty
 * object yields all defaults (docs/contract/decisions.md).
 */
export const configSchema = lazyObject(() => ({
  keys: markSecret(z.array(z.string()).default([]), "shortened"),
  api_keys: z.array(apiKeySchema).default([]),
  teams: z.array(subjectEntrySchema).max(10_000).default([]),
  users: z.array(subjectEntrySchema).max(100_000).default([]),
  /** Limits of tags that callers give their requests. Other tags have none. */
  tags: z.array(subjectEntrySchema).max(1_000).default([]),
  accounts: z.array(accountSchema).default([]),
  proxies: z.array(proxySchema).default([]),
  /** In addition to the one that the environment variables select. */
  providers: z.array(providerSchema).max(200).default([]),
  model_aliases: z.record(z.string(), z.string()).default({}),
  /** Requested name → candidate models in order; the first that supports the request is used. */
  model_routes: z.record(z.string(), modelRouteSchema()).default({}),
  /** By model, as used or as requested. Known prices are only written to `models` of a provider, when models are added. */
  prices: z.record(z.string(), priceSchema).default({}),
  cache: responseCacheSchema.prefault({}),
  admin: z
    .object({
      /** PBKDF2 hash of the admin password; empty while only the `ADMIN_KEY` secret gives access. */
      password_hash: markSecret(z.string().default("")),
      jwt_expire_hours: z.number().positive().max(8760).default(24),
      jwt_valid_after_unix: countSchema().default(0),
      /** Signs administrators' tokens; created at first use. */
      jwt_secret: markSecret(z.string().default("")),
    })
    .prefault({}),
  administrators: z.array(administratorSchema).max(1_000).default([]),
  oidc: oidcSchema.prefault({}),
  callers: z
    .object({
      /**
       * Policy for credentials that are no configured keys: pass them to the provider as its own tokens, or refuse them.
       * Absent: see `effectiveUnknownKeyPolicy`. Only an administrator's choice is stored; `auto` removes it.
       */
      unknown_keys: z
        .enum(["auto", "pass_through", "refuse"])
        .optional()
        .transform((chosen) => (chosen === "auto" ? undefined : chosen)),
      /** Store only digests and last four characters of the keys. This cannot be reverted. */
      keys_hashed: z.boolean().default(false),
    })
    .prefault({}),
  runtime: z
    .object({
      account_max_inflight: z.number().int().min(1).max(256).default(2),
      account_max_queue: countSchema().max(200_000).default(0),
      global_max_inflight: countSchema().max(200_000).default(0),
      /** Number of other accounts to try when the provider fails before any part of the answer was visible. */
      account_failovers: countSchema().max(10).default(2),
      token_refresh_interval_hours: z.number().min(0).max(8760).default(6),
    })
    .prefault({}),
  responses: z
    .object({ store_ttl_seconds: z.number().int().min(1).max(2_592_000).default(900) })
    .prefault({}),
  /** The provider that gets requests for unknown models, under the requested names; empty: refuse them. */
  unknown_models: z.object({ provider: z.string().trim().default("") }).prefault({}),
  embeddings: z.object({ provider: z.string().trim().default("") }).prefault({}),
  /** What providers have, for the one that the environment variables select. */
  default_provider: z
    .object({ limits: limitsSchema.default({}), cache: cacheSettingSchema.default({}) })
    .prefault({}),
  auto_delete: z
    .object({ mode: z.enum(["none", "single", "all"]).optional(), sessions: z.boolean().optional() })
    .transform(({ mode, sessions }) => ({
      mode: mode ?? (sessions === true ? ("all" as const) : ("none" as const)),
    }))
    .prefault({}),
  current_input_file: z
    .object({ enabled: z.boolean().default(true), min_chars: countSchema().default(200_000) })
    .prefault({}),
  thinking_injection: z
    .object({ enabled: z.boolean().default(true), prompt: z.string().default("") })
    .prefault({}),
  vercel: z
    .object({
      token: markSecret(z.string().default(""), "shortened"),
      project_id: z.string().default(""),
      team_id: z.string().default(""),
    })
    .prefault({}),
  /** `sample`: the share of successful requests that write a log line. Failed requests always write one. */
  log: z.object({ sample: z.number().min(0).max(1).default(1) }).prefault({}),
  history: z.object({ limit: countSchema().max(100_000).default(200) }).prefault({}),
  captures: z
    .object({
      enabled: z.boolean().default(false),
      limit: z.number().int().min(1).max(1000).default(20),
      max_body_bytes: z.number().int().min(1_024).max(8_388_608).default(2_097_152),
    })
    .prefault({}),
  /** Alert rules, and the webhooks that receive alerts. */
  alerts: alertsSchema.prefault({}),
  /** Checks of requests and answers. */
  guardrails: guardrailsSchema.prefault({}),
  /** Internal state of the hosting sync, for drift detection. */
  sync: z.object({ hash: z.string().default(""), time: countSchema().default(0) }).prefault({}),
}));

export type Config = z.output<typeof configSchema>;
