import * as z from "zod/mini";
import { callApi, callVersioned, type Versioned } from "./client.ts";
import { booleanField, ignoredResponse, numberField, textField } from "./fields.ts";

const price = z.object({
  input: numberField,
  output: numberField,
  cache_read: z.optional(z.number()),
  /** The name of `cache_read` in configurations of older versions. */
  cached_input: z.optional(z.number()),
  cache_write_5m: z.optional(z.number()),
  cache_write_1h: z.optional(z.number()),
});

/** Price of a million tokens. Without prices of their own, tokens that are read from or written to a cache cost `input`. */
export type Price = z.output<typeof price>;

const target = z.union([z.string(), z.object({ model: z.string(), weight: z.optional(z.number()) })]);

export const routeSchema = z.array(target);

/** The models that a name may resolve to, in order; with weights, conversations are distributed among them. */
export type Route = Readonly<z.output<typeof routeSchema>>;

const settings = z.object({
  admin: z.object({
    has_password_hash: booleanField,
    jwt_expire_hours: numberField,
    jwt_valid_after_unix: numberField,
    default_password_warning: booleanField,
  }),
  runtime: z.object({
    account_max_inflight: numberField,
    account_max_queue: numberField,
    global_max_inflight: numberField,
    account_failovers: numberField,
    token_refresh_interval_hours: numberField,
  }),
  responses: z.object({ store_ttl_seconds: numberField }),
  embeddings: z.object({ provider: textField }),
  auto_delete: z.object({ mode: textField }),
  current_input_file: z.object({ enabled: booleanField, min_chars: numberField }),
  thinking_injection: z.object({ enabled: booleanField, prompt: textField, default_prompt: textField }),
  model_aliases: z._default(z.record(z.string(), z.string()), {}),
  model_routes: z._default(z.record(z.string(), routeSchema), {}),
  unknown_models: z._default(z.object({ provider: textField }), { provider: "" }),
  callers: z._default(
    z.object({
      unknown_keys: textField,
      keys_hashed: booleanField,
      unknown_keys_in_force: textField,
      unknown_keys_warning: booleanField,
    }),
    { unknown_keys: "", keys_hashed: false, unknown_keys_in_force: "", unknown_keys_warning: false },
  ),
  prices: z._default(z.record(z.string(), price), {}),
  log: z._default(z.object({ sample: z._default(z.number(), 1) }), { sample: 1 }),
  history: z._default(z.object({ limit: numberField }), { limit: 0 }),
  captures: z._default(z.object({ enabled: booleanField, limit: numberField, max_body_bytes: numberField }), {
    enabled: false,
    limit: 0,
    max_body_bytes: 0,
  }),
  env_backed: booleanField,
  config_writable: z._default(z.boolean(), true),
  api_keys: z._default(z.number(), 1),
  needs_hosting_sync: booleanField,
});

/** The runtime settings (contract, Runtime settings). */
export type Settings = Versioned<z.output<typeof settings>>;

export const readSettings = (signal?: AbortSignal): Promise<Settings> =>
  callVersioned(settings, "/admin/settings", signal === undefined ? {} : { signal });

/** Changes the settings in `changes`, grouped as in the response. Returns all settings. */
export const changeSettings = (changes: unknown, ifMatch?: string): Promise<Settings> =>
  callVersioned(settings, "/admin/settings", { method: "PUT", body: changes, ifMatch });

/** Returns the entries of a list of the settings, except one. */
export const omitEntry = <T>(entries: Readonly<Record<string, T>>, name: string): Record<string, T> =>
  Object.fromEntries(Object.entries(entries).filter(([other]) => other !== name));

/** Changes a list within the settings, on the basis of the present ones, so that edits of its other entries stay. */
export async function editPresentSettings(change: (present: Settings) => unknown): Promise<Settings> {
  const present = await readSettings();
  return changeSettings(change(present), present.tag);
}

export const changePassword = (new_password: string) =>
  callApi(ignoredResponse, "/admin/settings/password", { method: "POST", body: { new_password } });
