import * as z from "zod/mini";
import { call } from "./client.ts";

const model = z.object({ id: z.string() });
const list = z.object({ data: z.array(model) });

/** The ids of the canonical models. */
export async function listModels(signal?: AbortSignal): Promise<string[]> {
  return (await call(list, "/v1/models", signal === undefined ? {} : { signal })).data.map(({ id }) => id);
}

/** The canonical model that a requested name leads to. Throws when there is none. */
export async function resolveModel(name: string): Promise<string> {
  return (await call(model, `/v1/models/${encodeURIComponent(name)}`)).id;
}
