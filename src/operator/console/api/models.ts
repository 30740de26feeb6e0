import { sendRequest } from "./client.ts";
import { DEFAULT_PROVIDER, listProviders } from "./providers.ts";

/** Owner of the built-in names in the model list. */
const BUILT_IN_OWNER = "provider";

/** Lists the ids of the models that callers can use. Built-in names need the default provider. */
export async function listModels(signal?: AbortSignal): Promise<string[]> {
  const [response, providers] = await Promise.all([
    sendRequest("/v1/models", { signal }),
    listProviders(signal),
  ]);
  const list: { data: { id: string; owned_by: string }[] } = await response.json();
  const hasDefaultProvider = providers.some(({ id }) => id === DEFAULT_PROVIDER);
  return list.data
    .filter(({ id, owned_by }) => hasDefaultProvider || owned_by !== BUILT_IN_OWNER || id.includes("/"))
    .map(({ id }) => id);
}

/** Resolves a requested name to a model. Throws if no model matches. */
export async function resolveModel(name: string): Promise<string> {
  const model: { id: string } = await (await sendRequest(`/v1/models/${encodeURIComponent(name)}`)).json();
  return model.id;
}
