import * as z from "zod";
import { lazyLooseObject, lazyObject, once } from "../encoding/lazy-schema.ts";
import { withoutTrailingSlashes } from "../encoding/path-segment.ts";
import { authFields } from "./account-auth.ts";
import { alertsSchema, privateHostsSchema } from "./alert-schema.ts";
import { BASE_ADDRESS_FAULT, isBaseAddress } from "./base-address.ts";
import { parseNetwork } from "./cidr-network.ts";
import { isDroppable, isMemberName } from "./drop-params.ts";
import { entryIdSchema, subjectIdSchema } from "./entry-id.ts";
import { guardrailSchema, MAX_GUARDRAILS } from "./guardrails.ts";
import { HISTORY_MODES } from "./history-mode.ts";
import { cacheSettingSchema, responseCacheSchema } from "./response-cache.ts";
import { ROLES } from "./roles.ts";
import { modelRouteSchema } from "./route-schema.ts";
import { markPublic, markSecret } from "./secret-masking.ts";
import { AFFINITY_WAIT_MS, SELECTION_STRATEGIES } from "./selection-strategy.ts";

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
  markSecret(z.string().regex(/^[\da-f]{64}$/, "must be a SHA-256 in lower-case hexadecimal")),
);

/** An object schema that preserves unknown fields, typed as one that knows all: so that values can be sent over RPC. */
export function extensibleObject<Shape extends z.core.$ZodLooseShape>(
  fields: () => Shape,
): z.ZodObject<Shape, z.core.$strip> {
  return lazyLooseObject(fields);
}

/** Limits of a key. 0 or absent: unlimited. Costs are in the currency of the prices. */
const keyLimitsSchema = markPublic(
  extensibleObject(() => ({
    requests_per_minute: count().optional(),
    tokens_per_minute: count().optional(),
    max_parallel: count().optional(),
    tokens_per_day: count().optional(),
    tokens_per_month: count().optional(),
    cost_per_day: amount().optional(),
    cost_per_month: amount().optional(),
  })),
);

/** A team, a user or a tag: what its requests may use. Unknown fields are preserved. */
export const subjectEntrySchema = extensibleObject(() => ({
  id: subjectIdSchema(),
  name: z.string().default(""),
  remark: z.string().default(""),
  limits: keyLimitsSchema.optional(),
  /** Allowed models; empty or absent: all. A key's own list limits them further. */
  models: names().optional(),
  /** Ids of the guardrails that apply to its requests besides those for all. */
  guardrails: names().optional(),
  /** What history and captures keep of its requests; absent: everything. */
  history: z.enum(HISTORY_MODES).optional(),
  /** As a key's: a higher value leaves the answers that were cached for its requests before. */
  cache_epoch: count().optional(),
  /** Of teams and users: tags that their requests may name; empty or absent: all. See `request-tags.ts`. */
  allowed_tags: names().optional(),
}));

/** A named administrator. Unknown fields are preserved. */
export const administratorSchema = extensibleObject(() => ({
  /** The name to sign in with. */
  id: subjectIdSchema(),
  name: z.string().default(""),
  role: z.enum(ROLES),
  /** PBKDF2 hash of the password; empty: no sign-in by password. */
  password_hash: markSecret(z.string().default("")),
  /** Verified email address, or subject, of the identity provider; empty: none. The subject counts if there are both. */
  email: z.string().trim().toLowerCase().max(320).default(""),
  oidc_subject: z.string().trim().max(255).default(""),
  disabled: z.boolean().default(false),
  /** Part of the administrator's tokens. A new value ends those that were issued before. */
  session_epoch: z.string().max(64).default(""),
}));

/** The identity provider (OpenID Connect) of administrators. It is used if it has an issuer. */
const oidcSchema = lazyObject(() => ({
  issuer: z.union([z.literal(""), baseAddress()]).default(""),
  client_id: z.string().trim().max(500).default(""),
  client_secret: markSecret(z.string().trim().max(2_000).default(""), "shortened"),
  scope: z.string().trim().min(1).max(500).default("openid email"),
  /** Address of `/admin/oidc/callback` as the identity provider knows it; empty: derived from the request. */
  redirect_uri: z.string().trim().max(2_000).default(""),
  /** Text of the button on the sign-in page. */
  label: z.string().trim().max(100).default(""),
}));

/** The fields of an API key, for schemas that extend it. */
export const apiKeyFields = extensibleObject(() => ({
  /** Empty if only the digest is stored. */
  key: markSecret(z.string().trim().default(""), "shortened"),
  name: z.string().default(""),
  remark: z.string().default(""),
  /** Permanent id of the key. Absent: derived from its digest, see `keyIdentifier`. */
  id: z.string().trim().min(1).max(64).optional(),
  /** Digest that owns the callers' stored objects, after a rotation. Absent: the key's own digest. */
  owner: digest().optional(),
  /** Digest and last four characters, if the key itself is not stored. */
  digest: digest().optional(),
  last4: z.string().max(4).optional(),
  /** Unix milliseconds; 0 or absent: unknown. */
  created: count().optional(),
  /** Unix milliseconds; 0 or absent: never. */
  expires: count().optional(),
  disabled: z.boolean().optional(),
  /** Previous secrets after rotations, newest first, and until when each works: Unix milliseconds. */
  previous: z.array(z.object({ digest: digest(), until: count() })).optional(),
  /** Ids of its team and of its user. Their limits hold for all of their keys together. */
  team: z.union([z.literal(""), subjectIdSchema()]).optional(),
  user: z.union([z.literal(""), subjectIdSchema()]).optional(),
  limits: keyLimitsSchema.optional(),
  /** Allowed models, dialects and client networks (CIDR); empty or absent: all. */
  models: names().optional(),
  dialects: names().optional(),
  networks: z.array(network()).optional(),
  /** Tags that its requests may name; empty or absent: all. See `request-tags.ts`. */
  allowed_tags: names().optional(),
  /** Ids of the guardrails that apply besides those for all. */
  guardrails: names().optional(),
  /** What history and captures keep of its requests; absent: everything. */
  history: z.enum(HISTORY_MODES).optional(),
  cache: cacheSettingSchema.optional(),
  /** Part of the addresses of its cached answers. A higher value leaves all that were stored before. */
  cache_epoch: count().optional(),
}));

/** An API key of a caller (contract, API keys). Unknown fields are preserved. */
export const apiKeySchema = apiKeyFields.refine(
  ({ key, digest: storedDigest }) => key !== "" || storedDigest !== undefined,
  {
    error: "a key must not be empty",
    path: ["key"],
  },
);

/** A provider account as it is stored (contract, Accounts). All fields are strings, empty when unset. */
export const accountSchema = lazyObject(() => ({
  email: z.string().trim().default(""),
  mobile: z.string().trim().default(""),
  password: markSecret(z.string().default("")),
  token: markSecret(z.string().trim().default(""), "shortened"),
  name: z.string().default(""),
  remark: z.string().default(""),
  proxy_id: z.string().default(""),
  /** Stored, but not used for requests. */
  disabled: z.boolean().default(false),
  /** Relative number of requests in the rotation. */
  weight: z.number().int().min(1).max(100).default(1),
  /** Id of its provider; empty or absent: the one that the environment variables select. */
  provider: z.string().trim().optional(),
  /** How it authenticates. Absent: by its password, or else by its token. */
  auth: authFields.optional(),
}));

/** An outbound proxy (contract, Proxies). */
export const proxySchema = lazyObject(() => ({
  id: z.string().trim().min(1),
  name: z.string().default(""),
  type: z.enum(["http", "socks5"]),
  host: z.string().trim().min(1, "a proxy needs a host"),
  port: z.number().int().min(1).max(65_535),
  username: z.string().default(""),
  password: markSecret(z.string().default("")),
}));

/** Id of the provider that the environment variables select. */
export const DEFAULT_PROVIDER = "default";
/** Characters of an HTTP field name (RFC 9110, section 5.6.2). */
const FIELD_NAME = /^[\w!#$%&'*+.^`|~-]+$/;
/** Characters of an HTTP field value: printable ASCII. */
const FIELD_VALUE = /^[\x20-\x7E]*$/;
/** Fields that belong to the connection or to the request itself. */
const CONNECTION_FIELDS =
  /^(?:host|content-length|content-type|connection|transfer-encoding|upgrade|te|trailer)$/i;

/** A base URL to which paths are appended: `http` or `https`, without a password. */
const baseAddress = () =>
  z
    .string("a provider needs a base address")
    .trim()
    .refine(isBaseAddress, BASE_ADDRESS_FAULT)
    .transform(withoutTrailingSlashes);

/** The maximum is the longest delay of a timer, milliseconds. */
const timeout = once(() => count().max(2_147_483_647).default(0));

/** Price of a model, in the operator's currency: of a million tokens unless the name says otherwise. */
export const priceSchema = lazyObject(() => ({
  input: z.number().min(0).default(0),
  /** Tokens that the provider read from its cache; defaults to `cached_input`, else to `input`. */
  cache_read: z.number().min(0).optional(),
  /** The name of `cache_read` in configurations of older versions. */
  cached_input: z.number().min(0).optional(),
  /** Tokens that the provider wrote to its cache for five minutes, or for a time that it does not state; defaults to `input`. */
  cache_write_5m: z.number().min(0).optional(),
  /** Tokens that the provider wrote to its cache for an hour; defaults to `cache_write_5m`. */
  cache_write_1h: z.number().min(0).optional(),
  output: z.number().min(0).default(0),
  /** Tokens of reasoning, sound and images. Each defaults to `input` or `output`. */
  reasoning: amount().optional(),
  audio_input: amount().optional(),
  audio_output: amount().optional(),
  image_input: amount().optional(),
  image_output: amount().optional(),
  /** A thousand web searches of the provider's tools, and a thousand search units of rankings. */
  web_searches_1k: amount().optional(),
  search_units_1k: amount().optional(),
  /** An hour of sound that the provider counts in seconds. */
  audio_hour: amount().optional(),
}));

/** Known properties of a provider's model. If one is absent, the backend decides. Unknown fields are preserved. */
export const providerModelSchema = markPublic(
  extensibleObject(() => ({
    /** The provider's name of the model; defaults to the listed name. */
    upstream: z.string().trim().min(1).optional(),
    /** False: callers cannot use it. */
    enabled: z.boolean().optional(),
    thinking: z.boolean().optional(),
    vision: z.boolean().optional(),
    search: z.boolean().optional(),
    /** Size of the context window in tokens. */
    context: z.number().int().min(1).optional(),
    /** Maximum output tokens of one answer. */
    output: z.number().int().min(1).optional(),
    /** Used if `prices` has none for the model. */
    price: priceSchema.optional(),
  })),
);

/** Names of members that a provider never gets. */
const dropParamsSchema = once(() =>
  z
    .array(
      z
        .string()
        .trim()
        .refine(isMemberName, "must be the name of a member, or names with dots between them")
        .refine(isDroppable, "no request works without this member"),
    )
    .max(100),
);

/** An additional provider, beside the one that the environment variables select. Unknown fields are preserved. */
export const providerSchema = extensibleObject(() => ({
  id: entryIdSchema().refine(
    (id) => id.toLowerCase() !== DEFAULT_PROVIDER,
    "this is the provider that the variables name: choose another id",
  ),
  name: z.string().default(""),
  /** Name of the driver for its protocol; `src/gateway/providers/drivers.ts` lists them. */
  driver: z.string("a provider needs a driver").trim().min(1, "a provider needs a driver"),
  base_url: baseAddress(),
  /** For accounts without a token of their own. Without accounts, it is the only credential. */
  token: markSecret(z.string().trim().default(""), "shortened"),
  /** Model id → the provider's name of it, or its known properties. */
  models: z.record(z.string(), z.union([z.string().trim().min(1), providerModelSchema])).default({}),
  tool_calls: z.enum(["native", "markup"]).default("native"),
  /** Whether non-streaming requests use the provider's non-streaming mode, where the protocol has both. */
  whole_answers: z.boolean().default(true),
  /** Whether requests in the provider's own protocol are sent as the caller wrote them. */
  native: z.boolean().default(true),
  /** The proxy of accounts without one of their own. */
  proxy_id: z.string().default(""),
  /** Sent with every request, in addition to the protocol's headers. Any value may be a credential, whatever its name. */
  headers: markSecret(
    z
      .record(
        z
          .string()
          .regex(FIELD_NAME, "must be the name of an HTTP header")
          .refine((field) => !CONNECTION_FIELDS.test(field), "this header belongs to the connection"),
        z.string().regex(FIELD_VALUE, "must be printable ASCII"),
      )
      .default({}),
    "shortened",
  ),
  /** Members of requests that the provider never gets, written with dots if they stand deeper. */
  drop_params: dropParamsSchema().default([]),
  /** The query parameter `api-version` of every request, as Azure's API needs it. */
  api_version: z
    .string()
    .trim()
    .regex(/^[\w.-]{0,64}$/, "must be a version such as 2024-10-21 or preview")
    .default(""),
  /** The header that carries the API key; empty: the protocol's own. Access tokens are always bearer tokens. */
  key_header: z
    .string()
    .trim()
    .refine(
      (field) => field === "" || (FIELD_NAME.test(field) && !CONNECTION_FIELDS.test(field)),
      "must be the name of an HTTP header",
    )
    .default(""),
  /** Whether its requests carry the header `traceparent`, if the deployment sends traces. Absent: no. */
  trace_context: z.boolean().optional(),
  /** Whether the runtime passes its native streams on without looking at their bytes first, where it can. Absent: no. */
  pipe_streams: z.boolean().optional(),
  /** Whether a cheap request finds out when it, or an account of it, works again. Absent: as its driver does by default. */
  active_probes: z.boolean().optional(),
  /** Slots of each of its accounts; 0: the general setting. */
  account_max_inflight: z.number().int().min(0).max(4_096).default(0),
  /** 0: its accounts have no limit, unless `account_max_inflight` sets one. Absent: there is always a limit. */
  max_concurrent: z
    .literal(0, "must be 0 (no limit) or absent; account_max_inflight limits the requests of each account")
    .optional(),
  /** Limits of all requests of the gateway's keys to it. */
  limits: keyLimitsSchema.optional(),
  cache: cacheSettingSchema.optional(),
  /** How its accounts are selected. Absent: as its driver does by default. */
  strategy: z.enum(SELECTION_STRATEGIES).optional(),
  /** How long a turn of a conversation waits for the conversation's busy account, milliseconds; 0: not at all. */
  affinity_wait_ms: count().max(60_000).default(AFFINITY_WAIT_MS),
  /** Milliseconds; 0: the deployment's values. */
  first_byte_timeout_ms: timeout(),
  answer_timeout_ms: timeout(),
  idle_timeout_ms: timeout(),
  /**
   * How often the gateway reads the provider's model list, in hours; 0: only on an administrator's request. New models are
   * added.
   */
  models_refresh_hours: z.number().min(0).max(8_760).default(0),
  /** Whether added models are enabled. */
  new_models: z.enum(["on", "off"]).default("on"),
  /** A disabled provider gets no requests, and its accounts are not used. */
  enabled: z.boolean().default(true),
}));

const guardrailsSchema = lazyObject(() => ({
  rules: z.array(guardrailSchema).max(MAX_GUARDRAILS).default([]),
  private_hosts: privateHostsSchema().default([]),
  /** Whether callers with rules may use endpoints whose texts are not checked. */
  unchecked_endpoints: z.enum(["refuse", "allow"]).default("refuse"),
}));

/**
 * The whole configuration with every group of the contract ("Configuration", "Runtime settings"). Parsing an empty
 * object yields all defaults (contract, Decisions).
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
      jwt_valid_after_unix: count().default(0),
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
      account_max_queue: count().max(200_000).default(0),
      global_max_inflight: count().max(200_000).default(0),
      /** Number of other accounts to try when the provider fails before any part of the answer was visible. */
      account_failovers: count().max(10).default(2),
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
    .object({ limits: keyLimitsSchema.default({}), cache: cacheSettingSchema.default({}) })
    .prefault({}),
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
      token: markSecret(z.string().default(""), "shortened"),
      project_id: z.string().default(""),
      team_id: z.string().default(""),
    })
    .prefault({}),
  /** `sample`: the share of successful requests that write a log line. Failed requests always write one. */
  log: z.object({ sample: z.number().min(0).max(1).default(1) }).prefault({}),
  history: z.object({ limit: count().max(100_000).default(200) }).prefault({}),
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
  sync: z.object({ hash: z.string().default(""), time: count().default(0) }).prefault({}),
}));

export type Config = z.output<typeof configSchema>;
export type Administrator = z.output<typeof administratorSchema>;
export type SubjectEntry = z.output<typeof subjectEntrySchema>;
export type ApiKey = z.output<typeof apiKeySchema>;
export type Price = z.output<typeof priceSchema>;
export type Account = z.output<typeof accountSchema>;
export type Proxy = z.output<typeof proxySchema>;
export type ProviderEntry = z.output<typeof providerSchema>;
export type ProviderModel = z.output<typeof providerModelSchema>;
