import * as z from "zod/mini";
import { callApi, callVersioned, type Versioned } from "./client.ts";
import { booleanField, numberField, textField, textListField } from "./fields.ts";
import { sendUndoable } from "./undo.ts";

const strings = z._default(z.record(z.string(), z.string()), {});

const price = z.object({
  input: numberField,
  output: numberField,
  cache_read: z.optional(z.number()),
  /** The name of `cache_read` in configurations of older versions. */
  cached_input: z.optional(z.number()),
  cache_write_5m: z.optional(z.number()),
  cache_write_1h: z.optional(z.number()),
});

/** Properties of a model. An absent property is unknown; the backend decides. */
const model = z.object({
  upstream: z.optional(z.string()),
  enabled: z.optional(z.boolean()),
  thinking: z.optional(z.boolean()),
  vision: z.optional(z.boolean()),
  search: z.optional(z.boolean()),
  context: z.optional(z.number()),
  output: z.optional(z.number()),
  price: z.optional(price),
});

export type ModelInfo = z.output<typeof model>;

const provider = z.object({
  id: z.string(),
  name: textField,
  driver: textField,
  base_url: textField,
  has_token: booleanField,
  token_preview: textField,
  /** Models by the names that callers use. The value is the upstream name, or the model's properties. */
  models: z._default(z.record(z.string(), z.union([z.string(), model])), {}),
  tool_calls: z._default(z.string(), "native"),
  whole_answers: z._default(z.boolean(), true),
  native: z._default(z.boolean(), true),
  /** Members of requests that the provider never gets. */
  drop_params: textListField,
  proxy_id: textField,
  api_version: textField,
  key_header: textField,
  headers: strings,
  account_max_inflight: numberField,
  /** 0: its accounts have no limit. Null: they have one. Absent: as the gateway chooses for a new provider. */
  max_concurrent: z.optional(z.nullable(z.literal(0))),
  /** Absent: as the driver does by default. */
  strategy: z.optional(z.string()),
  affinity_wait_ms: z._default(z.number(), 500),
  first_byte_timeout_ms: numberField,
  answer_timeout_ms: numberField,
  idle_timeout_ms: numberField,
  /** Hours between scheduled model refreshes; 0: no schedule. */
  models_refresh_hours: numberField,
  /** Whether scheduled refreshes switch new models on: "on" or "off". */
  new_models: z._default(z.string(), "on"),
  /** Result of the last scheduled model refresh; null: none yet. Only the list contains this field. */
  models_asked: z.optional(z.nullable(z.object({ at: numberField, error: textField, added: numberField }))),
  enabled: z._default(z.boolean(), true),
  accounts: numberField,
  read_only: booleanField,
});

/** A masked provider: its token and header values are shortened. Times are milliseconds. */
export type ProviderView = z.output<typeof provider>;

/** Editable fields of a provider. An empty token keeps the stored one, and so do masked header values. */
export type ProviderFields = Omit<
  ProviderView,
  "id" | "has_token" | "token_preview" | "models" | "models_asked" | "accounts" | "read_only"
> & { readonly token: string };

/** Id of the provider that environment variables configure. */
export const DEFAULT_PROVIDER = "default";

const list = z.object({ items: z._default(z.array(provider), []) });

/** Lists all providers, the provider of the environment variables first. */
export async function listProviders(signal?: AbortSignal): Promise<ProviderView[]> {
  return (await callApi(list, "/admin/providers", signal === undefined ? {} : { signal })).items;
}

const providerPath = (id: string, suffix = "") => `/admin/providers/${encodeURIComponent(id)}${suffix}`;

/** Reads one provider. Throws ApiError 404 for an unknown id. */
export const readProvider = (id: string, signal?: AbortSignal): Promise<Versioned<ProviderView>> =>
  callVersioned(provider, providerPath(id), signal === undefined ? {} : { signal });

export const addProvider = (body: ProviderFields & { readonly id: string }) =>
  callApi(provider, "/admin/providers", { method: "POST", body });

/** Changes some of the `ProviderFields`. Omitted fields keep their values. */
export const changeProvider = (id: string, body: Readonly<Record<string, unknown>>, ifMatch?: string) =>
  callApi(provider, providerPath(id), { method: "PUT", body, ifMatch });

export const deleteProvider = (id: string) => sendUndoable(providerPath(id), { method: "DELETE" });

const offeredSchema = z.object({ models: textListField });

/** Lists the models that the provider offers, with its own names. Throws ApiError 501 if its protocol has no model list. */
export async function listOfferedModels(id: string, signal?: AbortSignal): Promise<string[]> {
  return (await callApi(offeredSchema, providerPath(id, "/models"), signal === undefined ? {} : { signal }))
    .models;
}

/** Adds models of the provider to its list, switched on or off. */
export const addModels = (id: string, models: readonly string[], enabled: boolean) =>
  callApi(provider, providerPath(id, "/models"), { method: "POST", body: { models, enabled } });

/** Switches listed models on or off. */
export const switchModels = (id: string, models: readonly string[], enabled: boolean) =>
  callApi(provider, providerPath(id, "/models"), { method: "PUT", body: { models, enabled } });

const modelPath = (id: string, name: string) => providerPath(id, `/models/${encodeURIComponent(name)}`);

/** Editable properties of a model; null: unknown. */
export type ModelFields = { readonly [K in keyof ModelInfo]-?: NonNullable<ModelInfo[K]> | null };

/** Sets a model's properties. Adds the model if it is not listed. */
export const changeModel = (id: string, name: string, body: ModelFields) =>
  callApi(provider, modelPath(id, name), { method: "PUT", body });

/** Removes a model from the list. */
export const removeModel = (id: string, name: string) =>
  sendUndoable(modelPath(id, name), { method: "DELETE" });
