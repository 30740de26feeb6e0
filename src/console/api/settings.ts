import * as z from "zod/mini";
import { call } from "./client.ts";
import { anything, flag, number, text } from "./fields.ts";

const price = z.object({ input: number, cached_input: z.optional(z.number()), output: number });

/** Price of a million tokens. Without a price for cached tokens, they cost as much as the others. */
export type Price = z.output<typeof price>;

const target = z.union([z.string(), z.object({ model: z.string(), weight: z.optional(z.number()) })]);

/** The models that a name may resolve to, in order; with weights, conversations are distributed among them. */
export type Route = readonly z.output<typeof target>[];

const settings = z.object({
  admin: z.object({
    has_password_hash: flag,
    jwt_expire_hours: number,
    jwt_valid_after_unix: number,
    default_password_warning: flag,
  }),
  runtime: z.object({
    account_max_inflight: number,
    account_max_queue: number,
    global_max_inflight: number,
    account_failovers: number,
    token_refresh_interval_hours: number,
  }),
  responses: z.object({ store_ttl_seconds: number }),
  embeddings: z.object({ provider: text }),
  auto_delete: z.object({ mode: text }),
  current_input_file: z.object({ enabled: flag, min_chars: number }),
  thinking_injection: z.object({ enabled: flag, prompt: text, default_prompt: text }),
  model_aliases: z._default(z.record(z.string(), z.string()), {}),
  model_routes: z._default(z.record(z.string(), z.array(target)), {}),
  unknown_models: z._default(z.object({ provider: text }), { provider: "" }),
  callers: z._default(
    z.object({
      unknown_keys: text,
      keys_hashed: flag,
      unknown_keys_in_force: text,
      unknown_keys_warning: flag,
    }),
    { unknown_keys: "", keys_hashed: false, unknown_keys_in_force: "", unknown_keys_warning: false },
  ),
  prices: z._default(z.record(z.string(), price), {}),
  history: z._default(z.object({ limit: number }), { limit: 0 }),
  captures: z._default(z.object({ enabled: flag, limit: number, max_body_bytes: number }), {
    enabled: false,
    limit: 0,
    max_body_bytes: 0,
  }),
  env_backed: flag,
  config_writable: z._default(z.boolean(), true),
  api_keys: z._default(z.number(), 1),
  needs_hosting_sync: flag,
});

/** The runtime settings (contract, Runtime settings). */
export type Settings = z.output<typeof settings>;

export const readSettings = (signal?: AbortSignal) =>
  call(settings, "/admin/settings", signal === undefined ? {} : { signal });

/** Changes the settings in `changes`, grouped as in the response. Returns all settings. */
export const changeSettings = (changes: unknown) =>
  call(settings, "/admin/settings", { method: "PUT", body: changes });

export const changePassword = (new_password: string) =>
  call(anything, "/admin/settings/password", { method: "POST", body: { new_password } });
