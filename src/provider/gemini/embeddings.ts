import { isObject, type JsonObject } from "../../encoding/json.ts";
import { embeddingsOf } from "../embeddings.ts";

/** What is asked of a model for one vector of each text. Not every server knows how to take several at once. */
export function embeddingRequest(model: string, input: readonly string[], dimensions?: number) {
  const wish = dimensions === undefined ? {} : { outputDimensionality: dimensions };
  const requests = input.map((text) => ({ model, content: { parts: [{ text }] }, ...wish }));
  const [only, ...others] = requests;
  return only !== undefined && others.length === 0
    ? { verb: "embedContent", body: only }
    : { verb: "batchEmbedContents", body: { requests } };
}

/** The vectors of the answer, and its tokens (0 where the backend states none). Throws a `ProviderError` `malformed`. */
export function vectorsIn({ embedding, embeddings, usageMetadata }: JsonObject, inputs: number) {
  const list: readonly unknown[] = Array.isArray(embeddings) ? embeddings : [embedding];
  const data = list.map((entry) => ({ embedding: isObject(entry) ? entry["values"] : null }));
  const tokens = isObject(usageMetadata) ? usageMetadata["promptTokenCount"] : undefined;
  return embeddingsOf({ data, usage: { prompt_tokens: tokens } }, inputs);
}
