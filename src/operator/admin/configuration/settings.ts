import * as z from "zod";
import { hasDefaultPassword } from "../../../core/auth/admin-credentials.ts";
import { isDevelopmentKeyOpen } from "../../../core/auth/development-key.ts";
import { effectiveUnknownKeyPolicy, isOpenToAnyKey } from "../../../core/auth/unknown-key-policy.ts";
import { listApiKeys } from "../../../core/config/api-keys.ts";
import type { Config } from "../../../core/config/schema.ts";
import type { ConfigSnapshot } from "../../../core/config/snapshot.ts";
import type { Context } from "../../../core/ports/context.ts";
import { adminEndpoint, type Endpoint, jsonResponse } from "../../../core/routing/endpoint.ts";
import { DEFAULT_THINKING_PROMPT } from "../../../gateway/generation/preparation/prepare-options.ts";
import { successSchema } from "../answers.ts";
import { editConfig } from "../editing/config-edit.ts";
import { ENTRY_HEADERS, entryEtag, IF_MATCH } from "../etag.ts";
import { type SettingsView, settingsViewSchema } from "./config-answers.ts";
import { hashConfig } from "./config-export.ts";
import { adminView, visibleSettings } from "./config-view.ts";
import { listSettingFields, settingFieldSchema } from "./setting-fields.ts";
import { settingsSchema } from "./settings-schema.ts";

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
    default_provider: mergeGivenFields(config.default_provider, change.default_provider ?? {}),
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

/** The runtime settings as administrators see them (docs/contract/admin-configuration.md, Runtime settings). */
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
      development_key_warning: await isDevelopmentKeyOpen(platform, config),
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
  /** `GET /admin/settings` (docs/contract/admin-configuration.md). */
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
  /**
   * `PUT /admin/settings` (docs/contract/admin-configuration.md):
   * effective for the next request in this isolate, and within seconds everywhere.
   */
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
  /** `GET /admin/settings/fields`: what a form needs to know of each setting. New settings appear by themselves. */
  adminEndpoint({
    method: "GET",
    path: "/admin/settings/fields",
    summary: "Titles, kinds, bounds and defaults of the runtime settings",
    answers: jsonResponse(() => z.object({ items: z.array(settingFieldSchema()) })),
    handler: async () => Response.json({ items: listSettingFields() }),
  }),
] satisfies readonly Endpoint[];
