import * as z from "zod";
import { modelOf, newNames, type SaidOfModel, usableNames, withListed } from "../config/provider-models.ts";
import {
  DEFAULT_PROVIDER,
  type ProviderEntry,
  type ProviderModel,
  providerModelSchema,
} from "../config/schema.ts";
import { lazyLooseObject, once } from "../encoding/lazy-schema.ts";
import { GatewayError, invalidRequest } from "../errors/gateway-error.ts";
import { ProviderError, providerErrorToGateway } from "../errors/provider-error.ts";
import type { Context } from "../platform/context.ts";
import { type NamedProvider, ownProvider, providerNamed } from "../provider/of-platform.ts";
import { type Endpoint, forAdministrators, json } from "../routing/endpoint.ts";
import { onProvider } from "./account-call.ts";
import { edit } from "./edit.ts";
import { etagOf } from "./etag.ts";
import { providerView, providerViewSchema } from "./provider-view.ts";
import { savedProvider } from "./providers.ts";
import { found } from "./refusals.ts";
import { refuseStrangers, sentObject } from "./sent-fields.ts";
import { sentPrice } from "./sent-price.ts";

const modelsSchema = () => z.object({ driver: z.string(), models: z.array(z.string()) });

/** Maximum number of models that a request without names adds. */
const MOST_AT_ONCE = 1_000;

/**
 * Lists the names of the models that a provider offers, in the provider's spelling. Throws 501 if its protocol has no model
 * list.
 */
async function offered(context: Context, provider: NamedProvider): Promise<readonly string[]> {
  const { models } = provider.api;
  if (models === undefined) {
    throw new GatewayError(501, "this provider does not list its models", { code: "unsupported" });
  }
  try {
    const names = await onProvider(context, provider, null, "", (account, signal) =>
      models.list(account, signal),
    );
    return usableNames(names);
  } catch (error) {
    throw error instanceof ProviderError ? providerErrorToGateway(error) : error;
  }
}

async function providerAt(context: Context, id: string): Promise<NamedProvider> {
  const { config } = await context.platform.configuration.readFresh();
  if (id === DEFAULT_PROVIDER) return ownProvider(context.platform);
  return providerNamed(context.platform, config, savedProvider(config, id).id);
}

const modelNames = once(() => z.array(z.string().trim().min(1)).max(5_000));

/** Body of `POST /admin/providers/{providerID}/models`: the models to add. Default: all that the provider offers. */
const addedSchema = sentObject(() => ({
  models: modelNames().optional(),
  enabled: z.boolean().optional(),
}));

/** Body of `PUT /admin/providers/{providerID}/models`: the models to switch on or off. Default: all listed models. */
const switchedSchema = sentObject(() => ({ models: modelNames().optional(), enabled: z.boolean() }));

/** Body of `PUT /admin/providers/{providerID}/models/{model}`. Omitted fields keep their values; null removes a value. */
const editedSchema = lazyLooseObject(() => ({
  upstream: providerModelSchema.shape.upstream.nullable(),
  enabled: providerModelSchema.shape.enabled.nullable(),
  thinking: providerModelSchema.shape.thinking.nullable(),
  vision: providerModelSchema.shape.vision.nullable(),
  search: providerModelSchema.shape.search.nullable(),
  context: providerModelSchema.shape.context.nullable(),
  output: providerModelSchema.shape.output.nullable(),
  price: sentPrice().nullish(),
}));

type Models = ProviderEntry["models"];

/** Returns the stored form of a model. A model with only an upstream name is stored as that name. */
function saidOf(name: string, { enabled, ...model }: ProviderModel): SaidOfModel {
  if (enabled === false) return { ...model, enabled };
  const { upstream = name, ...rest } = model;
  return Object.keys(rest).length === 0 ? upstream : model;
}

/** Returns the model after an edit; the model may be new. */
function edited(
  name: string,
  said: SaidOfModel | undefined,
  body: z.output<typeof editedSchema>,
): SaidOfModel {
  const present = modelOf(said ?? name);
  refuseStrangers(body, Object.keys(editedSchema.shape), "", Object.keys(present));
  const model = { ...present, ...body };
  const known = Object.entries(model).filter(([, value]) => value !== undefined && value !== null);
  return saidOf(name, providerModelSchema.parse(Object.fromEntries(known)));
}

/** Switches some or all models of a provider on or off. Throws 404 for a model that is not listed. */
function withSwitched(models: Models, names: readonly string[] | undefined, enabled: boolean): Models {
  for (const name of names ?? []) found(Object.hasOwn(models, name) ? name : undefined, "the model", name);
  const entries = Object.entries(models).map(
    ([name, said]) =>
      [name, (names?.includes(name) ?? true) ? saidOf(name, { ...modelOf(said), enabled }) : said] as const,
  );
  return Object.fromEntries(entries);
}

/** Removes a model from a provider's list. Throws 404 if it is not listed. */
function without(models: Models, name: string): Models {
  found(Object.hasOwn(models, name) ? name : undefined, "the model", name);
  return Object.fromEntries(Object.entries(models).filter(([listed]) => listed !== name));
}

/**
 * Changes a provider's models and responds with the provider.
 *
 * @param keep saves the previous configuration; the response's entity tag is then the new version
 */
async function changedModels(
  context: Context,
  id: string,
  change: (models: Models) => Models,
  { keep = false }: { readonly keep?: boolean } = {},
): Promise<Response> {
  const { config, version } = await edit(
    context,
    (current) => {
      const models = change(savedProvider(current, id).models);
      const providers = current.providers.map((entry) => (entry.id === id ? { ...entry, models } : entry));
      return { ...current, providers };
    },
    { keep },
  );
  const headers = keep ? { etag: etagOf(version) } : {};
  return Response.json(providerView(config, savedProvider(config, id)), { headers });
}

export const PROVIDER_MODEL_ENDPOINTS: readonly Endpoint[] = [
  /** `GET /admin/provider/models`: upstream names that `PROVIDER_MODELS` may use. */
  forAdministrators({
    method: "GET",
    path: "/admin/provider/models",
    summary: "Models that the provider offers",
    answers: json(modelsSchema),
    handler: async (context) => {
      const provider = ownProvider(context.platform);
      return Response.json({ driver: provider.driver, models: await offered(context, provider) });
    },
  }),
  /** `GET /admin/providers/{providerID}/models`: models that a provider offers. */
  forAdministrators({
    method: "GET",
    path: "/admin/providers/:providerID/models",
    summary: "Models that a provider offers",
    answers: json(modelsSchema),
    handler: async (context, { params: { providerID: id = "" } }) => {
      const provider = await providerAt(context, id);
      return Response.json({ driver: provider.driver, models: await offered(context, provider) });
    },
  }),
  /** `POST /admin/providers/{providerID}/models`: adds models to the list and responds with the provider. */
  forAdministrators({
    method: "POST",
    path: "/admin/providers/:providerID/models",
    summary: "List a provider's models",
    body: addedSchema,
    optionalBody: true,
    answers: json(providerViewSchema),
    handler: async (context, { params: { providerID: id = "" }, body }) => {
      const { config: present } = await context.platform.configuration.readFresh();
      savedProvider(present, id);
      const { models: named, enabled = true } = body;
      if (named !== undefined) {
        return changedModels(context, id, (models) => withListed(models, named, enabled));
      }
      const names = await offered(context, await providerAt(context, id));
      return changedModels(context, id, (models) =>
        withListed(models, newNames(models, names, MOST_AT_ONCE), enabled),
      );
    },
  }),
  /** `PUT /admin/providers/{providerID}/models`: switches models on or off and responds with the provider. */
  forAdministrators({
    method: "PUT",
    path: "/admin/providers/:providerID/models",
    summary: "Switch a provider's models on or off",
    body: switchedSchema,
    answers: json(providerViewSchema),
    handler: (context, { params: { providerID: id = "" }, body: { models: names, enabled } }) =>
      changedModels(context, id, (models) => withSwitched(models, names, enabled)),
  }),
  /** `PUT /admin/providers/{providerID}/models/{model}`: edits or adds a listed model and responds with the provider. */
  forAdministrators({
    method: "PUT",
    path: "/admin/providers/:providerID/models/:model",
    summary: "Edit a provider's model",
    body: editedSchema,
    answers: json(providerViewSchema),
    handler: (context, { params: { providerID: id = "", model = "" }, body }) => {
      const name = model.trim();
      if (name === "") throw invalidRequest("a model needs a name", "model");
      return changedModels(context, id, (models) => ({
        ...models,
        [name]: edited(name, Object.hasOwn(models, name) ? models[name] : undefined, body),
      }));
    },
  }),
  /**
   * `DELETE /admin/providers/{providerID}/models/{model}`: removes a model from the list and responds with the provider.
   */
  forAdministrators({
    method: "DELETE",
    path: "/admin/providers/:providerID/models/:model",
    summary: "Remove a provider's model from the list",
    answers: json(providerViewSchema),
    handler: (context, { params: { providerID: id = "", model = "" } }) =>
      changedModels(context, id, (models) => without(models, model), { keep: true }),
  }),
];
