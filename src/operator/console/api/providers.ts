import { callApi, callVersioned } from "./client.ts";
import type { AnswerOf, BodyOf } from "./endpoints.ts";
import { sendUndoable } from "./undo.ts";

/** A masked provider in the list: its token and header values are shortened. Times are milliseconds. */
export type ProviderView = AnswerOf<"GET /admin/providers">["items"][number];
/** A provider as an edit answers it: without its health. */
export type ProviderEntryView = AnswerOf<"PUT /admin/providers/:providerID">;
/** Properties of a model. An absent property is unknown; the backend decides. */
export type ModelInfo = Exclude<ProviderView["models"][string], string>;
/** Editable properties of a model; null: unknown. */
export type ModelFields = BodyOf<"PUT /admin/providers/:providerID/models/:model">;
/** Editable fields of a provider. An empty token keeps the stored one, and so do masked header values. */
export type ProviderFields = BodyOf<"PUT /admin/providers/:providerID">;

/** Lists all providers, the provider of the environment variables first. */
export async function listProviders(signal?: AbortSignal): Promise<ProviderView[]> {
  return (await callApi("GET /admin/providers", { signal })).items;
}

/** Reads one provider. Throws ApiError 404 for an unknown id. */
export const readProvider = (providerID: string, signal?: AbortSignal) =>
  callVersioned("GET /admin/providers/:providerID", { params: { providerID }, signal });

export const addProvider = (body: BodyOf<"POST /admin/providers">) =>
  callApi("POST /admin/providers", { body });

/** Changes some of the `ProviderFields`. Omitted fields keep their values. */
export const changeProvider = (providerID: string, body: ProviderFields, ifMatch?: string) =>
  callApi("PUT /admin/providers/:providerID", { params: { providerID }, body, ifMatch });

export const deleteProvider = (providerID: string) =>
  sendUndoable("DELETE /admin/providers/:providerID", { params: { providerID } });

/**
 * Lists the models that the provider offers, with what is known of them.
 * Throws ApiError 501 if its protocol has no model list.
 */
export const listOfferedModels = (providerID: string, signal?: AbortSignal) =>
  callApi("GET /admin/providers/:providerID/models", { params: { providerID }, signal });

/** Adds models of the provider to its list, switched on or off. */
export const addModels = (providerID: string, body: BodyOf<"POST /admin/providers/:providerID/models">) =>
  callApi("POST /admin/providers/:providerID/models", { params: { providerID }, body });

/** Switches listed models on or off. */
export const switchModels = (providerID: string, models: readonly string[], enabled: boolean) =>
  callApi("PUT /admin/providers/:providerID/models", { params: { providerID }, body: { models, enabled } });

/** Sets a model's properties. Adds the model if it is not listed. */
export const changeModel = (providerID: string, model: string, body: ModelFields) =>
  callApi("PUT /admin/providers/:providerID/models/:model", { params: { providerID, model }, body });

/** Removes a model from the list. */
export const removeModel = (providerID: string, model: string) =>
  sendUndoable("DELETE /admin/providers/:providerID/models/:model", { params: { providerID, model } });
