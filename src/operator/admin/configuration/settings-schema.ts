import * as z from "zod";
import { configSchema } from "../../../core/config/schema.ts";
import { lazyObject } from "../../../core/encoding/lazy-schema.ts";
import { once } from "../../../core/encoding/once.ts";
import { DEFAULT_THINKING_PROMPT } from "../../../gateway/generation/preparation/prepare-options.ts";
import { cacheRequestSchema, limitsRequestSchema } from "../keys/subject-fields.ts";
import { aliasesSchema, routesSchema } from "../models/aliases.ts";
import { priceRequestSchema } from "../models/price-request.ts";

/** Prices by model. Unknown fields of a price are errors. */
const pricesSchema = once(() =>
  z.record(z.string().trim().min(1, "a model name must not be empty"), priceRequestSchema()),
);

/** What a form shows of a setting, besides its title and description. */
interface SettingDisplay {
  /** Titles of its values. If the setting is a text, other values are valid, too. */
  readonly choices?: Readonly<Record<string, string>>;
  /** Shown while a text is empty. Its field has several lines. */
  readonly placeholder?: string;
}

/** Adds title and description to an optional setting, in keywords of JSON Schema. */
function describeSetting<T extends z.ZodType>(
  field: T,
  title: string,
  description: string,
  { choices, placeholder }: SettingDisplay = {},
): z.ZodOptional<T> {
  const values = Object.entries(choices ?? {}).map(([value, name]) => ({ const: value, title: name }));
  return field.optional().meta({
    title,
    description,
    ...(choices !== undefined && {
      anyOf: field instanceof z.ZodEnum ? values : [...values, { type: "string" }],
    }),
    ...(placeholder !== undefined && { contentMediaType: "text/plain", examples: [placeholder] }),
  });
}

/** Settings with the same heading belong together in a form. */
const group = <T extends z.ZodObject>(heading: string, fields: T): z.ZodOptional<T> =>
  fields.optional().meta({ title: heading });

/**
 * Body of `PUT /admin/settings` (docs/contract/admin-configuration.md, Runtime settings). Only the sent settings
 * change. Unknown names are errors. `setting-fields.ts` lists the fields for forms.
 */
export const settingsSchema = lazyObject(() => {
  const { shape } = configSchema;
  const admin = shape.admin.unwrap().shape;
  const callers = shape.callers.unwrap().shape;
  const runtime = shape.runtime.unwrap().shape;
  const responses = shape.responses.unwrap().shape;
  const unknownModels = shape.unknown_models.unwrap().shape;
  const embeddings = shape.embeddings.unwrap().shape;
  const inputFile = shape.current_input_file.unwrap().shape;
  const injection = shape.thinking_injection.unwrap().shape;
  const cache = shape.cache.unwrap().shape;
  const log = shape.log.unwrap().shape;
  const history = shape.history.unwrap().shape;
  const captures = shape.captures.unwrap().shape;
  // A field of the view that a client may send back. It has no effect.
  const readOnly = z.unknown().optional();
  return {
    runtime: group(
      "Load",
      z.strictObject({
        account_max_inflight: describeSetting(
          runtime.account_max_inflight.unwrap(),
          "Concurrent requests per account",
          "Maximum concurrent requests of one account.",
        ),
        global_max_inflight: describeSetting(
          runtime.global_max_inflight.unwrap(),
          "Total concurrent requests",
          "Maximum concurrent requests of all accounts. 0: accounts × requests per account.",
        ),
        account_max_queue: describeSetting(
          runtime.account_max_queue.unwrap(),
          "Queue size",
          "Maximum waiting requests. Further requests get 429. 0: accounts × requests per account.",
        ),
        account_failovers: describeSetting(
          runtime.account_failovers.unwrap(),
          "Failover attempts",
          "How many other accounts the gateway tries if the provider fails before the answer begins.",
        ),
        token_refresh_interval_hours: describeSetting(
          runtime.token_refresh_interval_hours.unwrap(),
          "Token refresh interval (hours)",
          "Maximum age of an account's token. 0: sign in again only if the provider refuses the token.",
        ),
      }),
    ),
    thinking_injection: group(
      "Requests",
      z.strictObject({
        enabled: describeSetting(
          injection.enabled.unwrap(),
          "Thinking injection",
          "Appends a text to the last user message while thinking is on.",
        ),
        prompt: describeSetting(
          injection.prompt.unwrap(),
          "Thinking prompt",
          "The appended text. Empty: the built-in text.",
          { placeholder: DEFAULT_THINKING_PROMPT },
        ),
        default_prompt: readOnly,
      }),
    ),
    current_input_file: group(
      "Requests",
      z.strictObject({
        enabled: describeSetting(
          inputFile.enabled.unwrap(),
          "Long prompts as files",
          "Uploads a long prompt as a file instead of sending it as text.",
        ),
        min_chars: describeSetting(
          inputFile.min_chars.unwrap(),
          "Long prompt threshold (characters)",
          "Prompts of at least this length are uploaded.",
        ),
      }),
    ),
    auto_delete: group(
      "Requests",
      z.strictObject({
        mode: describeSetting(
          z.enum(["none", "single", "all"]),
          "Delete chat sessions",
          "What the gateway deletes at the provider after an answer.",
          {
            choices: {
              none: "Nothing",
              single: "The session of that request",
              all: "All sessions of the account",
            },
          },
        ),
        /** The legacy form: true means `all`, false `none`. `mode` wins. */
        sessions: z.boolean().optional().meta({ deprecated: true }),
      }),
    ),
    embeddings: group(
      "Requests",
      z.strictObject({
        provider: describeSetting(
          embeddings.provider.unwrap(),
          "Embeddings",
          "Who answers requests for embeddings. Test vectors are computed from the words without a model: enough to try a client, not for real searches.",
          {
            choices: {
              "": "Off: requests get 501",
              builtin: "Test vectors; embedding models of providers by provider/model",
              upstream: "The provider’s embedding models",
              deterministic: "Test vectors (same, earlier name “deterministic”)",
              mock: "Test vectors (same, earlier name “mock”)",
            },
          },
        ),
      }),
    ),
    unknown_models: group(
      "Requests",
      z.strictObject({
        provider: describeSetting(
          unknownModels.provider.unwrap(),
          "Provider for unknown model names",
          "Id of the provider that gets requests for unknown models. Empty: refuse them.",
        ),
      }),
    ),
    default_provider: z
      .strictObject({ limits: limitsRequestSchema().optional(), cache: cacheRequestSchema().optional() })
      .optional(),
    model_aliases: aliasesSchema().optional(),
    model_routes: routesSchema().optional(),
    prices: pricesSchema().optional(),
    cache: group(
      "Storage",
      z.strictObject({
        ttl_seconds: describeSetting(
          cache.ttl_seconds.unwrap(),
          "Response cache (seconds)",
          "How long an answer is served again, unless the key, the model or the provider says otherwise. 0: not at all.",
        ),
        models: z.record(z.string().trim().min(1), cacheRequestSchema()).optional(),
      }),
    ),
    responses: group(
      "Storage",
      z.strictObject({
        store_ttl_seconds: describeSetting(
          responses.store_ttl_seconds.unwrap(),
          "Stored responses (seconds)",
          "How long stored responses (responses style) are available.",
        ),
      }),
    ),
    log: group(
      "Storage",
      z.strictObject({
        sample: describeSetting(
          log.sample.unwrap(),
          "Log sampling",
          "Share of successful requests in the log. 1: all. Errors are always logged.",
        ),
      }),
    ),
    history: group(
      "Storage",
      z.strictObject({
        limit: describeSetting(
          history.limit.unwrap(),
          "History",
          "Maximum stored generations. 0: history off.",
        ),
      }),
    ),
    captures: group(
      "Storage",
      z.strictObject({
        enabled: describeSetting(
          captures.enabled.unwrap(),
          "Capture provider traffic",
          "Stores requests to and answers of the provider for debugging. Secrets are masked.",
        ),
        limit: describeSetting(captures.limit.unwrap(), "Captures", "Maximum stored captures."),
        max_body_bytes: describeSetting(
          captures.max_body_bytes.unwrap(),
          "Max captured body (bytes)",
          "Longer bodies are truncated.",
        ),
      }),
    ),
    callers: group(
      "Callers",
      z.strictObject({
        unknown_keys: describeSetting(
          z.enum(["auto", "pass_through", "refuse"]),
          "Unknown API keys",
          "Pass through: the key is sent to the provider as its token. Automatic: pass through, but refuse while the gateway has no credential for the provider.",
          { choices: { auto: "Automatic", pass_through: "Pass through to the provider", refuse: "Refuse" } },
        ),
        keys_hashed: describeSetting(
          callers.keys_hashed.unwrap(),
          "Store key digests only",
          "Keys can no longer be read, here or in exports, and saved configurations are deleted. Cannot be undone for existing keys.",
        ),
        unknown_keys_in_force: readOnly,
        unknown_keys_warning: readOnly,
        development_key_warning: readOnly,
      }),
    ),
    admin: group(
      "Administration",
      z.strictObject({
        jwt_expire_hours: describeSetting(
          admin.jwt_expire_hours.unwrap(),
          "Session lifetime (hours)",
          "How long a sign-in to this console is valid.",
        ),
        has_password_hash: readOnly,
        jwt_valid_after_unix: readOnly,
        default_password_warning: readOnly,
      }),
    ),
    env_backed: readOnly,
    config_writable: readOnly,
    api_keys: readOnly,
    needs_hosting_sync: readOnly,
    success: readOnly,
    // Groups of older versions.
    compat: readOnly,
    toolcall: readOnly,
  };
}).strict();
