import { sendRequest } from "./client.ts";

/** Lists the ids of the models that callers see. */
export async function listModels(signal?: AbortSignal): Promise<string[]> {
  const list: { data: { id: string }[] } = await (await sendRequest("/v1/models", { signal })).json();
  return list.data.map(({ id }) => id);
}

/** Resolves a requested name to a model. Throws if no model matches. */
export async function resolveModel(name: string): Promise<string> {
  const model: { id: string } = await (await sendRequest(`/v1/models/${encodeURIComponent(name)}`)).json();
  return model.id;
}
