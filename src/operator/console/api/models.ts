import * as z from "zod/mini";
import { callApi } from "./client.ts";

const model = z.object({ id: z.string() });
const list = z.object({ data: z.array(model) });

/** Lists the ids of the canonical models. */
export async function listModels(signal?: AbortSignal): Promise<string[]> {
  return (await callApi(list, "/v1/models", signal === undefined ? {} : { signal })).data.map(({ id }) => id);
}

/** Resolves a requested name to a canonical model. Throws if no model matches. */
export async function resolveModel(name: string): Promise<string> {
  return (await callApi(model, `/v1/models/${encodeURIComponent(name)}`)).id;
}
