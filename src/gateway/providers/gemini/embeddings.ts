import { isObject, type JsonObject } from "../../../core/encoding/json.ts";
import { readEmbeddings } from "../answers/embeddings.ts";

/**
 * Builds the request for one vector of each text. A single text is not sent as a batch: not every server supports
 * batches.
 *
 * @param members further members of each text's request, such as `taskType`
 */
export function buildEmbeddingRequest(
  model: string,
  input: readonly string[],
  dimensions: number | undefined,
  members: readonly JsonObject[],
) {
  const options = dimensions === undefined ? {} : { outputDimensionality: dimensions };
  const requests = input.map((text, index) => ({
    ...members[index],
    model,
    content: { parts: [{ text }] },
    ...options,
  }));
  const [firstRequest, ...otherRequests] = requests;
  return firstRequest !== undefined && otherRequests.length === 0
    ? { verb: "embedContent", body: firstRequest }
    : { verb: "batchEmbedContents", body: { requests } };
}

/** Reads the vectors, and the prompt tokens (0 if the backend states none). Throws a `ProviderError` `malformed`. */
export function readVectors({ embedding, embeddings, usageMetadata }: JsonObject, inputs: number) {
  const list: readonly unknown[] = Array.isArray(embeddings) ? embeddings : [embedding];
  const data = list.map((entry) => ({ embedding: isObject(entry) ? entry["values"] : null }));
  const tokens = isObject(usageMetadata) ? usageMetadata["promptTokenCount"] : undefined;
  return readEmbeddings({ data, usage: { prompt_tokens: tokens } }, inputs);
}
