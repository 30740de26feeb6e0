import * as z from "zod";
import { once } from "../../encoding/once.ts";
import { FIELD_NAME, FIELD_VALUE } from "../../http/field-syntax.ts";
import { isDroppable, isMemberName } from "../drop-params.ts";
import { entryIdSchema } from "../entry-id.ts";
import { markPublic, markSecret } from "../marked-secrets.ts";
import { DEFAULT_PROVIDER } from "../provider-id.ts";
import { AFFINITY_WAIT_MS, SELECTION_STRATEGIES } from "../selection-strategy.ts";
import { limitsSchema } from "./limits-schema.ts";
import { priceSchema } from "./price-schema.ts";
import { PROVIDER_BOUNDS } from "./provider-bounds.ts";
import { cacheSettingSchema } from "./response-cache-schema.ts";
import { baseAddress, countSchema, extensibleObject } from "./shared-fields.ts";

/** Milliseconds. */
const timeout = once(() => countSchema().max(PROVIDER_BOUNDS.timeoutMs).default(0));

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

/** Fields that belong to the connection or to the request itself. */
const CONNECTION_FIELDS =
  /^(?:host|content-length|content-type|connection|transfer-encoding|upgrade|te|trailer)$/i;

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
  account_max_inflight: z.number().int().min(0).max(PROVIDER_BOUNDS.accountSlots).default(0),
  /** 0: its accounts have no limit, unless `account_max_inflight` sets one. Absent: there is always a limit. */
  max_concurrent: z
    .literal(0, "must be 0 (no limit) or absent; account_max_inflight limits the requests of each account")
    .optional(),
  /** Limits of all requests of the gateway's keys to it. */
  limits: limitsSchema.optional(),
  cache: cacheSettingSchema.optional(),
  /** How its accounts are selected. Absent: as its driver does by default. */
  strategy: z.enum(SELECTION_STRATEGIES).optional(),
  /** How long a turn of a conversation waits for the conversation's busy account, milliseconds; 0: not at all. */
  affinity_wait_ms: countSchema().max(PROVIDER_BOUNDS.affinityWaitMs).default(AFFINITY_WAIT_MS),
  /** Milliseconds; 0: the deployment's values. */
  first_byte_timeout_ms: timeout(),
  answer_timeout_ms: timeout(),
  idle_timeout_ms: timeout(),
  /**
   * How often the gateway reads the provider's model list, in hours; 0: only on an administrator's request. New models are
   * added.
   */
  models_refresh_hours: z.number().min(0).max(PROVIDER_BOUNDS.modelsRefreshHours).default(0),
  /** Whether added models are enabled. */
  new_models: z.enum(["on", "off"]).default("on"),
  /** A disabled provider gets no requests, and its accounts are not used. */
  enabled: z.boolean().default(true),
}));

export type ProviderEntry = z.output<typeof providerSchema>;
export type ProviderModel = z.output<typeof providerModelSchema>;
