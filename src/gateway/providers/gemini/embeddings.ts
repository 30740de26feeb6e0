import { isObject, type JsonObject } from "../../../core/encoding/json.ts";
import { readEmbeddings } from "../answers/embeddings.ts";
import type { ContentsQuery, TextsQuery } from "../provider.ts";

/**
 * Builds the requests for one vector of each text. A single text is not sent as a batch: not every server supports
 * batches.
 */
export function buildEmbeddingRequests({ input, dimensions }: TextsQuery): ContentsQuery {
  const options = dimensions === undefined ? {} : { outputDimensionality: dimensions };
  const requests = input.map((text) => ({ content: { parts: [{ text }] }, ...options }));
  return { verb: requests.length === 1 ? "embedContent" : "batchEmbedContents", requests };
}

/** The body of requests for one model. */
export function createEmbeddingBody(model: string, { verb, requests }: ContentsQuery): JsonObject {
  return verb === "embedContent"
    ? { ...requests[0], model }
    : { requests: requests.map((request) => ({ ...request, model })) };
}

/** Reads the vectors, and the prompt tokens (0 if the backend states none). Throws a `ProviderError` `malformed`. */
export function readVectors({ embedding, embeddings, usageMetadata }: JsonObject, inputs: number) {
  const list: readonly unknown[] = Array.isArray(embeddings) ? embeddings : [embedding];
  const data = list.map((entry) => ({ embedding: isObject(entry) ? entry["values"] : null }));
  const tokens = isObject(usageMetadata) ? usageMetadata["promptTokenCount"] : undefined;
  return readEmbeddings({ data, usage: { prompt_tokens: tokens } }, inputs);
}
