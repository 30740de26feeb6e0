import * as z from "zod";
import { lazyLooseObject, lazyObject, once } from "../encoding/lazy-schema.ts";
import { withoutTrailingSlashes } from "../encoding/path-segment.ts";
import { parseNetwork } from "./network.ts";
import { publicWithUnknown, secret } from "./secrets.ts";

const count = once(() => z.number().int().min(0));
const amount = once(() => z.number().min(0));
const names = once(() => z.array(z.string().trim().min(1)));
const network = once(() =>
  z
    .string()
    .trim()
    .refine((text) => parseNetwork(text) !== null, "must be an address, or a network such as 192.0.2.0/24"),
);
/** SHA-256 of a key, in hexadecimal. */
const digest = once(() =>
  secret(z.string().regex(/^[\da-f]{64}$/, "must be a SHA-256 in lower-case hexadecimal")),
);

/** An object that keeps fields which it does not know, in the type of one that knows all: so it can be sent over RPC. */
export function openObject<Shape extends z.core.$ZodLooseShape>(
  fields: () => Shape,
): z.ZodObject<Shape, z.core.$strip> {
  return lazyLooseObject(fields);
}

/** What a key may use. 0, or nothing: without a limit. Cost is in the currency of the prices. */
const keyLimitsSchema = publicWithUnknown(
  openObject(() => ({
    requests_per_minute: count().optional(),
    tokens_per_minute: count().optional(),
    max_parallel: count().optional(),
    tokens_per_day: count().optional(),
    tokens_per_month: count().optional(),
    cost_per_day: amount().optional(),
    cost_per_month: amount().optional(),
  })),
);

/** All fields of an API key, for schemas that are made of it. */
export const apiKeyFields = openObject(() => ({
  /** Empty when only its digest is kept. */
  key: secret(z.string().trim().default(""), "shortened"),
  name: z.string().default(""),
  remark: z.string().default(""),
  /** Names the key for good. Absent: derived from its digest, see `keyIdentifier`. */
  id: z.string().trim().min(1).max(64).optional(),
  /** Under which digest its callers' objects are kept, once it has been rotated. Absent: its own. */
  owner: digest().optional(),
  /** The key's digest, and its last four characters, where the key itself is not kept. */
  digest: digest().optional(),
  last4: z.string().max(4).optional(),
  /** Unix milliseconds; 0, or nothing: unknown. */
  created: count().optional(),
  /** Unix milliseconds; 0, or nothing: never. */
  expires: count().optional(),
  disabled: z.boolean().optional(),
  /** What it was before it was rotated, newest first, and until when that still works: Unix milliseconds. */
  previous: z.array(z.object({ digest: digest(), until: count() })).optional(),
  limits: keyLimitsSchema.optional(),
  /** What it may be used for, and from where (CIDR); empty, or nothing: everything. */
  models: names().optional(),
  dialects: names().optional(),
  networks: z.array(network()).optional(),
}));

/** An API key of a caller (contract, API keys). What this version does not know is kept. */
export const apiKeySchema = apiKeyFields.refine(({ key, digest: kept }) => key !== "" || kept !== undefined, {
  error: "a key must not be empty",
  path: ["key"],
});

/** A provider account as it is stored (contract, Accounts). All fields are strings, empty when unset. */
export const accountSchema = lazyObject(() => ({
  email: z.string().trim().default(""),
  mobile: z.string().trim().default(""),
  password: secret(z.string().default("")),
  token: secret(z.string().trim().default(""), "shortened"),
  name: z.string().default(""),
  remark: z.string().default(""),
  proxy_id: z.string().default(""),
  /** Kept, but not used. */
  disabled: z.boolean().default(false),
  /** How many requests it gets in its turn. */
  weight: z.number().int().min(1).max(100).default(1),
  /** The id of the provider that it belongs to; empty, or nothing: the one that the deployment's variables name. */
  provider: z.string().trim().optional(),
}));

/** An outbound proxy (contract, Proxies). */
export const proxySchema = lazyObject(() => ({
  id: z.string().trim().min(1),
  name: z.string().default(""),
  type: z.enum(["http", "socks5"]),
  host: z.string().trim().min(1, "a proxy needs a host"),
  port: z.number().int().min(1).max(65_535),
  username: z.string().default(""),
  password: secret(z.string().default("")),
}));

/** What the id of a provider consists of: no slash, because `provider/model` names a model. */
const PROVIDER_ID = /^[A-Za-z\d](?:[\w.-]{0,62}[A-Za-z\d])?$/;
/** What the variables' provider is called. */
export const DEFAULT_PROVIDER = "default";
/** What the name of an HTTP field consists of (RFC 9110, section 5.6.2). */
const FIELD_NAME = /^[\w!#$%&'*+.^`|~-]+$/;
/** What its value consists of, as programs write it. */
const FIELD_VALUE = /^[\x20-\x7E]*$/;
/** Fields that belong to the connection or to the request itself. */
const OWN_FIELDS = /^(?:host|content-length|content-type|connection|transfer-encoding|upgrade|te|trailer)$/i;

/** A base address: `http` or `https`, without a password, to which paths are added. */
const baseAddress = () =>
  z
    .string("a provider needs a base address")
    .trim()
    .refine((text) => {
      const url = URL.parse(text);
      if (url === null || !/^https?:$/.test(url.protocol)) return false;
      return url.username + url.password + url.search + url.hash === "";
    }, "must be an http or https address without a password and a query")
    .transform(withoutTrailingSlashes);

/** Longest time-out that a timer takes, milliseconds. */
const timeout = once(() => count().max(2_147_483_647).default(0));

/** What a million tokens of a model cost, in whatever currency the operator counts. */
export const priceSchema = lazyObject(() => ({
  input: z.number().min(0).default(0),
  /** For what the provider read from its cache; `input` unless given. */
  cached_input: z.number().min(0).optional(),
  output: z.number().min(0).default(0),
}));

/**
 * What is known of a model that a provider has. What is left out is not known, and then the backend decides. What this version
 * does not know is kept.
 */
export const providerModelSchema = publicWithUnknown(
  openObject(() => ({
    /** The provider's own name for it; the name that it is listed by unless given. */
    upstream: z.string().trim().min(1).optional(),
    /** False: it is not there for callers. */
    enabled: z.boolean().optional(),
    thinking: z.boolean().optional(),
    vision: z.boolean().optional(),
    search: z.boolean().optional(),
    /** Tokens that it can read and write at once. */
    context: z.number().int().min(1).optional(),
    /** Tokens that one answer may have. */
    output: z.number().int().min(1).optional(),
    /** Where `prices` has none for it. */
    price: priceSchema.optional(),
  })),
);

/** A provider beside the one that the deployment's variables name. What this version does not know is kept. */
export const providerSchema = openObject(() => ({
  id: z
    .string("a provider needs an id")
    .trim()
    .regex(PROVIDER_ID, "must be at most 64 letters, digits, dots, hyphens and underscores")
    .refine((id) => id.toLowerCase() !== DEFAULT_PROVIDER, "this is the provider that the variables name"),
  name: z.string().default(""),
  /** The protocol that it is spoken to in; which there are the drivers say. */
  driver: z.string("a provider needs a driver").trim().min(1, "a provider needs a driver"),
  base_url: baseAddress(),
  /** For accounts that have none of their own; where there are no accounts, the only one. */
  token: secret(z.string().trim().default(""), "shortened"),
  /** Model id → the provider's own name for it, or what is known of it. */
  models: z.record(z.string(), z.union([z.string().trim().min(1), providerModelSchema])).default({}),
  tool_calls: z.enum(["native", "markup"]).default("native"),
  /** Whether answers that nobody wants streamed are asked for in one piece, where the protocol has both. */
  whole_answers: z.boolean().default(true),
  /** The proxy of accounts that are bound to none. */
  proxy_id: z.string().default(""),
  /** Sent with every request, beside those of the protocol. Each value may be a credential, whatever its name. */
  headers: secret(
    z
      .record(
        z
          .string()
          .regex(FIELD_NAME, "must be the name of an HTTP header")
          .refine((field) => !OWN_FIELDS.test(field), "this header belongs to the connection"),
        z.string().regex(FIELD_VALUE, "must be printable ASCII"),
      )
      .default({}),
    "shortened",
  ),
  /** Slots of each of its accounts; 0: as all others. */
  account_max_inflight: z.number().int().min(0).max(4_096).default(0),
  /** Milliseconds; 0: those of the deployment. */
  first_byte_timeout_ms: timeout(),
  answer_timeout_ms: timeout(),
  idle_timeout_ms: timeout(),
  /** How often it is asked for its models; 0: only by administrators. What is new is listed. */
  models_refresh_hours: z.number().min(0).max(8_760).default(0),
  /** Whether such models are switched on. */
  new_models: z.enum(["on", "off"]).default("on"),
  /** No request reaches one that is not enabled, and its accounts rest. */
  enabled: z.boolean().default(true),
}));

/** One of the models that a name leads to, with its share. */
export const routeTargetSchema = lazyObject(() => ({
  model: z.string().trim().min(1),
  weight: z.number().min(0).max(1_000).optional(),
}));

/** The models that a name may lead to: by id, `provider/model` or an alias; with their shares, if conversations are to be shared. */
export const routeOf = <Target extends z.ZodType>(target: Target, error?: z.core.$ZodErrorMap) =>
  z
    .array(z.union([z.string().trim().min(1), target], error === undefined ? {} : { error }))
    .min(1, "a route leads to one model at least")
    .max(20);

export const modelRouteSchema = once(() => routeOf(routeTargetSchema));

/** Where alerts are sent. */
export const webhookSchema = lazyObject(() => ({
  id: z.string().trim().min(1).max(64),
  name: z.string().default(""),
  /** Whoever knows the address of a chat's webhook can write there. */
  url: secret(z.string().trim().min(1).max(2_000), "origin"),
  /** `json`: everything, for programs. The other two are what chat tools take. */
  format: z.enum(["json", "chat", "discord"]).default("json"),
  /** Signs what is sent (Standard Webhooks): `whsec_` and base64. */
  secret: secret(z.string().regex(/^whsec_[A-Za-z\d+/]{22,128}={0,2}$/, "must be whsec_ and base64")),
  disabled: z.boolean().default(false),
}));

/** When to tell of something, and after how long again. */
const alertRule = (threshold: number, max: number) =>
  z
    .object({
      enabled: z.boolean().default(true),
      threshold: z.number().min(0).max(max).default(threshold),
      quiet_minutes: z.number().int().min(1).max(10_080).default(60),
    })
    .prefault({});

/** What may be told. Thresholds are per cent, or numbers of requests and accounts. */
export const alertRulesSchema = lazyObject(() => ({
  error_rate: alertRule(20, 100),
  queue_depth: alertRule(10, 200_000),
  cooling_accounts: alertRule(1, 100_000),
  empty_pool: alertRule(0, 100_000),
  budget: alertRule(80, 100),
  sync_failed: alertRule(0, 0),
}));

const alertsSchema = lazyObject(() => ({
  webhooks: z.array(webhookSchema).max(20).default([]),
  rules: alertRulesSchema.prefault({}),
}));

/**
 * The whole configuration with every group of the contract ("Configuration", "Runtime settings"). Parsing an empty
 * object yields all defaults (contract, Decisions).
 */
export const configSchema = lazyObject(() => ({
  keys: secret(z.array(z.string()).default([]), "shortened"),
  api_keys: z.array(apiKeySchema).default([]),
  accounts: z.array(accountSchema).default([]),
  proxies: z.array(proxySchema).default([]),
  /** Beside the one that the deployment's variables name. */
  providers: z.array(providerSchema).max(200).default([]),
  model_aliases: z.record(z.string(), z.string()).default({}),
  /** Requested name → the models that may answer, in order, of which the first that can does. */
  model_routes: z.record(z.string(), modelRouteSchema()).default({}),
  /** By model, used or asked for. None is built in: it would be wrong one day. */
  prices: z.record(z.string(), priceSchema).default({}),
  admin: z
    .object({
      /** PBKDF2 of the admin password, empty while only the `ADMIN_KEY` secret opens the door. */
      password_hash: secret(z.string().default("")),
      jwt_expire_hours: z.number().positive().max(8760).default(24),
      jwt_valid_after_unix: count().default(0),
      /** Secret that signs administrators' tokens; made once, at first use. */
      jwt_secret: secret(z.string().default("")),
    })
    .prefault({}),
  callers: z
    .object({
      /**
       * What happens to a credential that is no configured key: it goes to the provider as its own token, or it is refused.
       * Absent: see `unknownKeysInForce`. Only an administrator's choice is stored, and `auto` takes it back.
       */
      unknown_keys: z
        .enum(["auto", "pass_through", "refuse"])
        .optional()
        .transform((chosen) => (chosen === "auto" ? undefined : chosen)),
      /** Of the keys only digests and last four characters are kept. There is no way back. */
      keys_hashed: z.boolean().default(false),
    })
    .prefault({}),
  runtime: z
    .object({
      account_max_inflight: z.number().int().min(1).max(256).default(2),
      account_max_queue: count().max(200_000).default(0),
      global_max_inflight: count().max(200_000).default(0),
      /** Other accounts that are tried when the provider fails before anything of an answer was seen. */
      account_failovers: count().max(10).default(2),
      token_refresh_interval_hours: z.number().min(0).max(8760).default(6),
    })
    .prefault({}),
  responses: z
    .object({ store_ttl_seconds: z.number().int().min(1).max(2_592_000).default(900) })
    .prefault({}),
  /** The provider that models go to which nobody knows, by the names that they have; empty: they are refused. */
  unknown_models: z.object({ provider: z.string().trim().default("") }).prefault({}),
  embeddings: z.object({ provider: z.string().trim().default("") }).prefault({}),
  auto_delete: z
    .object({ mode: z.enum(["none", "single", "all"]).optional(), sessions: z.boolean().optional() })
    .transform(({ mode, sessions }) => ({
      mode: mode ?? (sessions === true ? ("all" as const) : ("none" as const)),
    }))
    .prefault({}),
  current_input_file: z
    .object({ enabled: z.boolean().default(true), min_chars: count().default(200_000) })
    .prefault({}),
  thinking_injection: z
    .object({ enabled: z.boolean().default(true), prompt: z.string().default("") })
    .prefault({}),
  vercel: z
    .object({
      token: secret(z.string().default(""), "shortened"),
      project_id: z.string().default(""),
      team_id: z.string().default(""),
    })
    .prefault({}),
  history: z.object({ limit: count().max(100_000).default(200) }).prefault({}),
  captures: z
    .object({
      enabled: z.boolean().default(false),
      limit: z.number().int().min(1).max(1000).default(20),
      max_body_bytes: z.number().int().min(1024).max(8_388_608).default(2_097_152),
    })
    .prefault({}),
  /** Who is told of trouble, and of which. */
  alerts: alertsSchema.prefault({}),
  /** Internal metadata of the hosting sync, for drift detection. */
  sync: z.object({ hash: z.string().default(""), time: count().default(0) }).prefault({}),
}));

export type Config = z.output<typeof configSchema>;
export type ApiKey = z.output<typeof apiKeySchema>;
export type Webhook = z.output<typeof webhookSchema>;
export type AlertRules = z.output<typeof alertRulesSchema>;
export type Price = z.output<typeof priceSchema>;
export type Account = z.output<typeof accountSchema>;
export type Proxy = z.output<typeof proxySchema>;
export type ProviderEntry = z.output<typeof providerSchema>;
export type ProviderModel = z.output<typeof providerModelSchema>;
