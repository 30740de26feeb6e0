import * as z from "zod/mini";
import { ApiError, call } from "./client.ts";
import { flag, number, text, texts } from "./fields.ts";
import { undoable } from "./undo.ts";

const strings = z._default(z.record(z.string(), z.string()), {});

const price = z.object({ input: number, cached_input: z.optional(z.number()), output: number });

/** What is said of a model; what is left out is not known, and then the backend decides. */
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

export type ModelSaid = z.output<typeof model>;

const provider = z.object({
  id: z.string(),
  name: text,
  driver: text,
  base_url: text,
  has_token: flag,
  token_preview: text,
  /** By the names that callers use: what the provider calls it, or what is known of it. */
  models: z._default(z.record(z.string(), z.union([z.string(), model])), {}),
  tool_calls: z._default(z.string(), "native"),
  whole_answers: z._default(z.boolean(), true),
  proxy_id: text,
  headers: strings,
  account_max_inflight: number,
  first_byte_timeout_ms: number,
  answer_timeout_ms: number,
  idle_timeout_ms: number,
  /** 0: it is asked by administrators only. */
  models_refresh_hours: number,
  /** Whether what is found by schedule is switched on: "on" or "off". */
  new_models: z._default(z.string(), "on"),
  /** What came of asking it by schedule last; null: it was not. Only the list tells it. */
  models_asked: z.optional(z.nullable(z.object({ at: number, error: text, added: number }))),
  enabled: z._default(z.boolean(), true),
  accounts: number,
  read_only: flag,
});

/** A provider, masked: of its token and of the values of its headers only what tells them from others. Times are milliseconds. */
export type ProviderView = z.output<typeof provider>;

/** What can be said of a provider. An empty token keeps the old one, and so do masked headers. */
export type ProviderFields = Omit<
  ProviderView,
  "id" | "has_token" | "token_preview" | "models" | "models_asked" | "accounts" | "read_only"
> & { readonly token: string };

/** What the gateway calls the provider that the deployment's variables name. */
export const DEFAULT_PROVIDER = "default";

const list = z.object({ items: z._default(z.array(provider), []) });

/** All providers, that of the deployment's variables first. */
export async function listProviders(signal?: AbortSignal): Promise<ProviderView[]> {
  return (await call(list, "/admin/providers", signal === undefined ? {} : { signal })).items;
}

/** One of them. Throws ApiError 404 when there is none of that id. */
export async function readProvider(id: string, signal?: AbortSignal): Promise<ProviderView> {
  const known = (await listProviders(signal)).find((each) => each.id === id);
  if (known === undefined) throw new ApiError(404, `There is no provider of the id “${id}”.`);
  return known;
}

const path = (id: string, rest = "") => `/admin/providers/${encodeURIComponent(id)}${rest}`;

export const addProvider = (body: ProviderFields & { readonly id: string }) =>
  call(provider, "/admin/providers", { method: "POST", body });

/** Changes some of the `ProviderFields`; what is left out stays. */
export const changeProvider = (id: string, body: Readonly<Record<string, unknown>>) =>
  call(provider, path(id), { method: "PUT", body });

export const deleteProvider = (id: string) => undoable(path(id), { method: "DELETE" });

const offered = z.object({ models: texts });

/** The names that the provider itself has for its models. Throws ApiError 501 where its protocol has no such list. */
export async function offeredModels(id: string, signal?: AbortSignal): Promise<string[]> {
  return (await call(offered, path(id, "/models"), signal === undefined ? {} : { signal })).models;
}

/** Adds some of the provider's models to those that are listed, switched on or off. */
export const listModelsOf = (id: string, models: readonly string[], enabled: boolean) =>
  call(provider, path(id, "/models"), { method: "POST", body: { models, enabled } });

/** Switches some of its listed models on or off. */
export const switchModels = (id: string, models: readonly string[], enabled: boolean) =>
  call(provider, path(id, "/models"), { method: "PUT", body: { models, enabled } });

const modelPath = (id: string, name: string) => path(id, `/models/${encodeURIComponent(name)}`);

/** What can be said of a model; null: it is not known. */
export type ModelFields = { readonly [K in keyof ModelSaid]-?: NonNullable<ModelSaid[K]> | null };

/** Says what is known of a model; it is listed if it was not. */
export const changeModel = (id: string, name: string, body: ModelFields) =>
  call(provider, modelPath(id, name), { method: "PUT", body });

/** Lists a model no more. */
export const removeModel = (id: string, name: string) => undoable(modelPath(id, name), { method: "DELETE" });
