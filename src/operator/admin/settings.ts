import * as z from "zod";
import { hasDefaultPassword } from "../../core/auth/administrators.ts";
import { effectiveUnknownKeyPolicy, isOpenToAnyKey } from "../../core/auth/unknown-key-policy.ts";
import { listApiKeys } from "../../core/config/api-keys.ts";
import { type Config, configSchema } from "../../core/config/schema.ts";
import type { ConfigSnapshot } from "../../core/config/snapshot.ts";
import { lazyObject, once } from "../../core/encoding/lazy-schema.ts";
import type { Context } from "../../core/ports/context.ts";
import { adminEndpoint, type Endpoint, jsonResponse } from "../../core/routing/endpoint.ts";
import { DEFAULT_THINKING_PROMPT } from "../../gateway/generation/prepare-options.ts";
import { aliasesSchema, routesSchema } from "./aliases.ts";
import { successSchema } from "./answers.ts";
import { type SettingsView, settingsViewSchema } from "./config-answers.ts";
import { editConfig } from "./config-edit.ts";
import { hashConfig } from "./config-export.ts";
import { adminView, visibleSettings } from "./config-view.ts";
import { ENTRY_HEADERS, entryEtag, IF_MATCH } from "./etag.ts";
import { priceRequestSchema } from "./price-request.ts";
import { cacheRequestSchema } from "./subject-fields.ts";

/** Prices by model. Unknown fields of a price are errors. */
const pricesSchema = once(() =>
  z.record(z.string().trim().min(1, "a model name must not be empty"), priceRequestSchema()),
);

/**
 * Body of `PUT /admin/settings` (contract, Runtime settings), plus `prices`, `cache`, `log`, `history` and `captures`, which are not in the
 * contract. Only the sent settings change. Unknown names are errors.
 */
const settingsSchema = lazyObject(() => {
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
    admin: z
      .strictObject({
        jwt_expire_hours: admin.jwt_expire_hours.unwrap().optional(),
        has_password_hash: readOnly,
        jwt_valid_after_unix: readOnly,
        default_password_warning: readOnly,
      })
      .optional(),
    callers: z
      .strictObject({
        unknown_keys: z.enum(["auto", "pass_through", "refuse"]).optional(),
        keys_hashed: callers.keys_hashed.unwrap().optional(),
        unknown_keys_in_force: readOnly,
        unknown_keys_warning: readOnly,
      })
      .optional(),
    runtime: z
      .strictObject({
        account_max_inflight: runtime.account_max_inflight.unwrap().optional(),
        account_max_queue: runtime.account_max_queue.unwrap().optional(),
        global_max_inflight: runtime.global_max_inflight.unwrap().optional(),
        account_failovers: runtime.account_failovers.unwrap().optional(),
        token_refresh_interval_hours: runtime.token_refresh_interval_hours.unwrap().optional(),
      })
      .optional(),
    responses: z
      .strictObject({ store_ttl_seconds: responses.store_ttl_seconds.unwrap().optional() })
      .optional(),
    unknown_models: z.strictObject({ provider: unknownModels.provider.unwrap().optional() }).optional(),
    embeddings: z.strictObject({ provider: embeddings.provider.unwrap().optional() }).optional(),
    auto_delete: z
      .strictObject({
        mode: z.enum(["none", "single", "all"]).optional(),
        /** The legacy form: true means `all`, false `none`. `mode` wins. */
        sessions: z.boolean().optional(),
      })
      .optional(),
    current_input_file: z
      .strictObject({
        enabled: inputFile.enabled.unwrap().optional(),
        min_chars: inputFile.min_chars.unwrap().optional(),
      })
      .optional(),
    thinking_injection: z
      .strictObject({
        enabled: injection.enabled.unwrap().optional(),
        prompt: injection.prompt.unwrap().optional(),
        default_prompt: readOnly,
      })
      .optional(),
    model_aliases: aliasesSchema().optional(),
    model_routes: routesSchema().optional(),
    prices: pricesSchema().optional(),
    cache: z
      .strictObject({
        ttl_seconds: cache.ttl_seconds.unwrap().optional(),
        models: z.record(z.string().trim().min(1), cacheRequestSchema()).optional(),
      })
      .optional(),
    log: z.strictObject({ sample: log.sample.unwrap().optional() }).optional(),
    history: z.strictObject({ limit: history.limit.unwrap().optional() }).optional(),
    captures: z
      .strictObject({
        enabled: captures.enabled.unwrap().optional(),
        limit: captures.limit.unwrap().optional(),
        max_body_bytes: captures.max_body_bytes.unwrap().optional(),
      })
      .optional(),
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

type SettingsEdit = z.output<typeof settingsSchema>;

/** Returns `current` with the given fields of `changes`. */
function mergeGivenFields<T extends object>(
  current: T,
  changes: { readonly [K in keyof T]?: T[K] | undefined },
): T {
  const changed = Object.entries(changes).filter(([name, value]) => name in current && value !== undefined);
  return Object.assign({ ...current }, Object.fromEntries(changed));
}

function applySettings(config: Config, change: SettingsEdit): Config {
  const { mode, sessions } = change.auto_delete ?? {};
  const { unknown_keys = config.callers.unknown_keys, keys_hashed = config.callers.keys_hashed } =
    change.callers ?? {};
  const autoDelete = mode ?? (sessions === undefined ? undefined : sessions ? "all" : "none");
  return {
    ...config,
    admin: mergeGivenFields(config.admin, { jwt_expire_hours: change.admin?.jwt_expire_hours }),
    callers: { unknown_keys: unknown_keys === "auto" ? undefined : unknown_keys, keys_hashed },
    runtime: mergeGivenFields(config.runtime, change.runtime ?? {}),
    responses: mergeGivenFields(config.responses, change.responses ?? {}),
    unknown_models: mergeGivenFields(config.unknown_models, change.unknown_models ?? {}),
    embeddings: mergeGivenFields(config.embeddings, change.embeddings ?? {}),
    auto_delete: autoDelete === undefined ? config.auto_delete : { mode: autoDelete },
    current_input_file: mergeGivenFields(config.current_input_file, change.current_input_file ?? {}),
    thinking_injection: mergeGivenFields(config.thinking_injection, {
      enabled: change.thinking_injection?.enabled,
      prompt: change.thinking_injection?.prompt,
    }),
    model_aliases: change.model_aliases ?? config.model_aliases,
    model_routes: change.model_routes ?? config.model_routes,
    prices: change.prices ?? config.prices,
    cache: mergeGivenFields(config.cache, change.cache ?? {}),
    log: mergeGivenFields(config.log, change.log ?? {}),
    history: mergeGivenFields(config.history, change.history ?? {}),
    captures: mergeGivenFields(config.captures, change.captures ?? {}),
  };
}

/** The runtime settings as administrators see them (contract, Runtime settings). */
async function readSettingsView(
  { platform }: Context,
  { config, envBacked, writable }: ConfigSnapshot,
): Promise<SettingsView> {
  const groups = visibleSettings(config);
  return {
    ...groups,
    callers: {
      ...groups.callers,
      unknown_keys_in_force: effectiveUnknownKeyPolicy(platform, config),
      unknown_keys_warning: isOpenToAnyKey(platform, config),
    },
    admin: {
      ...adminView(config),
      default_password_warning: await hasDefaultPassword(platform.variables, config),
    },
    thinking_injection: { ...config.thinking_injection, default_prompt: DEFAULT_THINKING_PROMPT },
    env_backed: envBacked,
    config_writable: writable,
    api_keys: listApiKeys(config).length,
    needs_hosting_sync: config.sync.hash !== "" && config.sync.hash !== (await hashConfig(config)),
  };
}

/** The header with the entity tag of the settings: of what `PUT /admin/settings` can change. */
async function settingsTag(config: Config): Promise<{ etag: string }> {
  return { etag: await entryEtag(config, storedSettings(config)) };
}

const storedSettings = (config: Config): unknown => [visibleSettings(config), config.admin.jwt_expire_hours];

export const SETTINGS_ENDPOINTS = [
  /** `GET /admin/settings` (contract). */
  adminEndpoint({
    method: "GET",
    path: "/admin/settings",
    summary: "Runtime settings",
    answers: jsonResponse(settingsViewSchema),
    ...ENTRY_HEADERS,
    handler: async (context) => {
      const snapshot = await context.platform.configuration.readFresh();
      const headers = await settingsTag(snapshot.config);
      return Response.json(await readSettingsView(context, snapshot), { headers });
    },
  }),
  /** `PUT /admin/settings` (contract): effective for the next request in this isolate, and within seconds everywhere. */
  adminEndpoint({
    method: "PUT",
    path: "/admin/settings",
    summary: "Change runtime settings",
    body: settingsSchema,
    answers: jsonResponse(() => successSchema().extend(settingsViewSchema().shape)),
    ...ENTRY_HEADERS,
    ...IF_MATCH,
    handler: async (context, { body: change }) => {
      const apply = (config: Config) => applySettings(config, change);
      const snapshot = await editConfig(context, apply, { entry: storedSettings });
      const headers = await settingsTag(snapshot.config);
      return Response.json({ success: true, ...(await readSettingsView(context, snapshot)) }, { headers });
    },
  }),
] satisfies readonly Endpoint[];
