import { callApi, sendRequest } from "./client.ts";

/** Lists the ids of the models that callers can use: without the built-in names if no provider serves them. */
export async function listModels(signal?: AbortSignal): Promise<string[]> {
  const [response, { unserved_models }] = await Promise.all([
    sendRequest("/v1/models", { signal }),
    callApi("GET /admin/providers", { signal }),
  ]);
  const list: { data: { id: string }[] } = await response.json();
  const unserved = new Set(unserved_models);
  return list.data.map(({ id }) => id).filter((id) => !unserved.has(id));
}

/** Lists the models that a key may use, with the key itself. */
export async function listModelsOfKey(key: string, signal?: AbortSignal): Promise<string[]> {
  const response = await fetch("/v1/key", {
    headers: { authorization: `Bearer ${key}` },
    signal: signal ?? null,
  });
  if (!response.ok) return listModels(signal);
  const { available_models }: { available_models: string[] } = await response.json();
  return available_models;
}

/** Resolves a requested name to a model. Throws if no model matches. */
export async function resolveModel(name: string): Promise<string> {
  const model: { id: string } = await (await sendRequest(`/v1/models/${encodeURIComponent(name)}`)).json();
  return model.id;
}
