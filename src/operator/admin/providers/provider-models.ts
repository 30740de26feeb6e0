import * as z from "zod";
import { DEFAULT_PROVIDER } from "../../../core/config/provider-id.ts";
import {
  addListedModels,
  fillListedModels,
  type ModelEntry,
  selectNewNames,
  toProviderModel,
} from "../../../core/config/provider-models.ts";
import { priceSchema } from "../../../core/config/schemas/price-schema.ts";
import {
  type ProviderEntry,
  type ProviderModel,
  providerModelSchema,
} from "../../../core/config/schemas/provider-schema.ts";
import { lazyLooseObject } from "../../../core/encoding/lazy-schema.ts";
import { once } from "../../../core/encoding/once.ts";
import { isReservedName } from "../../../core/encoding/reserved-name.ts";
import { invalidRequest } from "../../../core/errors/gateway-error.ts";
import type { Context } from "../../../core/ports/context.ts";
import { adminEndpoint, type Endpoint, jsonResponse } from "../../../core/routing/endpoint.ts";
import { loadProviderKnowledge } from "../../../gateway/models/known-models.ts";
import { createModelDescriber } from "../../../gateway/models/stated-model.ts";
import {
  getDefaultProvider,
  getProvider,
  type RegisteredProvider,
} from "../../../gateway/providers/provider-registry.ts";
import { editConfig } from "../editing/config-edit.ts";
import { ENTRY_HEADERS, formatEtag, IF_MATCH, VERSION_HEADERS } from "../etag.ts";
import { priceRequestSchema } from "../models/price-request.ts";
import { rejectUnknownFields, requestObject } from "../request-fields.ts";
import { requireFound } from "../resource-errors.ts";
import { listOfferedModels } from "./offered-models.ts";
import { providerView, providerViewSchema } from "./provider-view.ts";
import { getSavedProvider, providerResponse } from "./providers.ts";

const modelsSchema = () => z.object({ driver: z.string(), models: z.array(z.string()) });

/** What the provider's own list states of a model; what it does not state comes from the known models. */
const detailsShape = () => {
  const { context, output, thinking, vision } = providerModelSchema.shape;
  return { context, output, thinking, vision };
};

const offeredModelsSchema = () =>
  modelsSchema().extend({
    /** By name. Models of which nothing is known are left out. */
    details: z.record(z.string(), z.object({ ...detailsShape(), price: priceSchema.optional() })),
  });

/** Maximum number of models that a request without names adds. */
const MAX_ADDED_MODELS = 1_000;

async function findProvider(context: Context, id: string): Promise<RegisteredProvider> {
  const { config } = await context.platform.configuration.readFresh();
  if (id === DEFAULT_PROVIDER) return getDefaultProvider(context.platform);
  return getProvider(context.platform, config, getSavedProvider(config, id).id);
}

const modelNames = once(() => z.array(z.string().trim().min(1)).max(5_000));

/**
 * Body of `POST /admin/providers/{providerID}/models`: the models to add. Default: all that the provider offers.
 * `details` are those of `GET`; named models without details get what is known of them. `fill` gives listed models what
 * they lack.
 */
const addModelsSchema = requestObject(() => ({
  models: modelNames().optional(),
  details: z
    .record(
      z.string(),
      requestObject(() => ({ ...detailsShape(), price: priceRequestSchema().optional() })),
    )
    .optional(),
  enabled: z.boolean().optional(),
  fill: z.boolean().optional(),
}));

/** Body of `PUT /admin/providers/{providerID}/models`: the models to switch on or off. Default: all listed models. */
const switchModelsSchema = requestObject(() => ({ models: modelNames().optional(), enabled: z.boolean() }));

/** Body of `PUT /admin/providers/{providerID}/models/{model}`. Omitted fields keep their values; null removes a value. */
const editModelSchema = lazyLooseObject(() => ({
  upstream: providerModelSchema.shape.upstream.nullable(),
  enabled: providerModelSchema.shape.enabled.nullable(),
  thinking: providerModelSchema.shape.thinking.nullable(),
  vision: providerModelSchema.shape.vision.nullable(),
  search: providerModelSchema.shape.search.nullable(),
  context: providerModelSchema.shape.context.nullable(),
  output: providerModelSchema.shape.output.nullable(),
  price: priceRequestSchema().nullish(),
}));

type Models = ProviderEntry["models"];
/** Returns what is known of a model by its upstream name; null: nothing. */
type Describe = (upstream: string) => ProviderModel | null;

/** Returns the stored form of a model. A model with only an upstream name is stored as that name. */
function toStoredModel(name: string, { enabled, ...model }: ProviderModel): ModelEntry {
  if (enabled === false) return { ...model, enabled };
  const { upstream = name, ...rest } = model;
  return Object.keys(rest).length === 0 ? upstream : model;
}

/** Returns the model after an edit; the model may be new. */
function editModel(
  name: string,
  entry: ModelEntry | undefined,
  body: z.output<typeof editModelSchema>,
): ModelEntry {
  const present = toProviderModel(entry ?? name);
  rejectUnknownFields(body, Object.keys(editModelSchema.shape), "", Object.keys(present));
  const model = { ...present, ...body };
  const fields = Object.entries(model).filter(([, value]) => value !== undefined && value !== null);
  return toStoredModel(name, providerModelSchema.parse(Object.fromEntries(fields)));
}

/** Switches some or all models of a provider on or off. Throws 404 for a model that is not listed. */
function setModelsEnabled(models: Models, names: readonly string[] | undefined, enabled: boolean): Models {
  for (const name of names ?? [])
    requireFound(Object.hasOwn(models, name) ? name : undefined, "the model", name);
  const entries = Object.entries(models).map(
    ([name, entry]) =>
      [
        name,
        (names?.includes(name) ?? true) ? toStoredModel(name, { ...toProviderModel(entry), enabled }) : entry,
      ] as const,
  );
  return Object.fromEntries(entries);
}

/** Removes a model from a provider's list. Throws 404 if it is not listed. */
function removeModel(models: Models, name: string): Models {
  requireFound(Object.hasOwn(models, name) ? name : undefined, "the model", name);
  return Object.fromEntries(Object.entries(models).filter(([listed]) => listed !== name));
}

/**
 * Changes a provider's models and responds with the provider.
 *
 * @param keep saves the previous configuration; the response's entity tag is then the new version
 */
async function updateModels(
  context: Context,
  id: string,
  change: (models: Models) => Models,
  { keep = false }: { readonly keep?: boolean } = {},
): Promise<Response> {
  const { config, version } = await editConfig(
    context,
    (current) => {
      const models = change(getSavedProvider(current, id).models);
      const providers = current.providers.map((entry) => (entry.id === id ? { ...entry, models } : entry));
      return { ...current, providers };
    },
    { keep, entry: (current) => getSavedProvider(current, id) },
  );
  if (!keep) return providerResponse(config, id);
  const headers = { etag: formatEtag(version) };
  return Response.json(providerView(config, getSavedProvider(config, id)), { headers });
}

export const PROVIDER_MODEL_ENDPOINTS = [
  /** `GET /admin/provider/models`: upstream names that `PROVIDER_MODELS` may use. */
  adminEndpoint({
    method: "GET",
    path: "/admin/provider/models",
    summary: "Models that the provider offers",
    answers: jsonResponse(modelsSchema),
    handler: async (context) => {
      const provider = getDefaultProvider(context.platform);
      const offered = await listOfferedModels(context, provider);
      return Response.json({ driver: provider.driver, models: offered.map(({ name }) => name) });
    },
  }),
  /** `GET /admin/providers/{providerID}/models`: models that a provider offers. */
  adminEndpoint({
    method: "GET",
    path: "/admin/providers/:providerID/models",
    summary: "Models that a provider offers",
    answers: jsonResponse(offeredModelsSchema),
    handler: async (context, { params: { providerID: id = "" } }) => {
      const provider = await findProvider(context, id);
      const offered = await listOfferedModels(context, provider);
      const describe = createModelDescriber(
        offered,
        await loadProviderKnowledge({ base_url: provider.baseUrl }),
      );
      const models = offered.map(({ name }) => name);
      const details = models.map((name) => [name, describe(name)] as const);
      return Response.json({
        driver: provider.driver,
        models,
        details: Object.fromEntries(details.filter(([, model]) => model !== null)),
      });
    },
  }),
  /** `POST /admin/providers/{providerID}/models`: adds models to the list and responds with the provider. */
  adminEndpoint({
    method: "POST",
    path: "/admin/providers/:providerID/models",
    summary: "List a provider's models",
    body: addModelsSchema,
    optionalBody: true,
    answers: jsonResponse(providerViewSchema),
    ...ENTRY_HEADERS,
    ...IF_MATCH,
    handler: async (context, { params: { providerID: id = "" }, body }) => {
      const { config: present } = await context.platform.configuration.readFresh();
      const knowledge = await loadProviderKnowledge(getSavedProvider(present, id));
      const { models: requested, details = {}, enabled = true, fill = false } = body;
      const update = (
        names: readonly string[],
        select: (models: Models) => readonly string[],
        describe: Describe,
      ) =>
        updateModels(context, id, (models) =>
          addListedModels(
            fill ? fillListedModels(models, names, describe) : models,
            select(models),
            enabled,
            describe,
          ),
        );
      if (requested !== undefined) {
        return update(
          requested,
          () => requested,
          (name) => (Object.hasOwn(details, name) ? (details[name] ?? null) : knowledge.describe(name)),
        );
      }
      const offered = await listOfferedModels(context, await findProvider(context, id));
      const names = offered.map(({ name }) => name);
      return update(
        names,
        (models) => selectNewNames(models, names, MAX_ADDED_MODELS),
        createModelDescriber(offered, knowledge),
      );
    },
  }),
  /** `PUT /admin/providers/{providerID}/models`: switches models on or off and responds with the provider. */
  adminEndpoint({
    method: "PUT",
    path: "/admin/providers/:providerID/models",
    summary: "Enable or disable a provider's models",
    body: switchModelsSchema,
    answers: jsonResponse(providerViewSchema),
    ...ENTRY_HEADERS,
    ...IF_MATCH,
    handler: (context, { params: { providerID: id = "" }, body: { models: names, enabled } }) =>
      updateModels(context, id, (models) => setModelsEnabled(models, names, enabled)),
  }),
  /** `PUT /admin/providers/{providerID}/models/{model}`: edits or adds a listed model and responds with the provider. */
  adminEndpoint({
    method: "PUT",
    path: "/admin/providers/:providerID/models/:model",
    summary: "Edit a provider's model",
    body: editModelSchema,
    answers: jsonResponse(providerViewSchema),
    ...ENTRY_HEADERS,
    ...IF_MATCH,
    handler: (context, { params: { providerID: id = "", model = "" }, body }) => {
      const name = model.trim();
      if (name === "") throw invalidRequest("a model needs a name", "model");
      if (isReservedName(name)) throw invalidRequest("a model cannot have this name", "model");
      return updateModels(context, id, (models) => ({
        ...models,
        [name]: editModel(name, Object.hasOwn(models, name) ? models[name] : undefined, body),
      }));
    },
  }),
  /**
   * `DELETE /admin/providers/{providerID}/models/{model}`: removes a model from the list and responds with the provider.
   */
  adminEndpoint({
    method: "DELETE",
    path: "/admin/providers/:providerID/models/:model",
    summary: "Remove a provider's model from the list",
    answers: jsonResponse(providerViewSchema),
    ...VERSION_HEADERS,
    ...IF_MATCH,
    handler: (context, { params: { providerID: id = "", model = "" } }) =>
      updateModels(context, id, (models) => removeModel(models, model), { keep: true }),
  }),
] satisfies readonly Endpoint[];
