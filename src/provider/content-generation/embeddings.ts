import { isObject, type JsonObject } from "../../encoding/json.ts";
import { embeddingsOf } from "../embeddings.ts";

/** A request for one vector of each text. */
export function embeddingBody(model: string, input: readonly string[], dimensions?: number): object {
  const wish = dimensions === undefined ? {} : { outputDimensionality: dimensions };
  return { requests: input.map((text) => ({ model, content: { parts: [{ text }] }, ...wish })) };
}

/** The vectors of the answer, and its tokens (0 where the backend states none). Throws a `ProviderError` `malformed`. */
export function vectorsIn({ embeddings, usageMetadata }: JsonObject, inputs: number) {
  const list: readonly unknown[] = Array.isArray(embeddings) ? embeddings : [];
  const data = list.map((entry) => ({ embedding: isObject(entry) ? entry["values"] : null }));
  const tokens = isObject(usageMetadata) ? usageMetadata["promptTokenCount"] : undefined;
  return embeddingsOf({ data, usage: { prompt_tokens: tokens } }, inputs);
}
