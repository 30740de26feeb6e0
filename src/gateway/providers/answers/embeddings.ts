import { decodeFloats } from "../../../core/encoding/floats.ts";
import { isObject, type JsonObject } from "../../../core/encoding/json.ts";
import { ProviderError } from "../../../core/errors/provider-error.ts";
import { readCount } from "../json.ts";
import type { Vector } from "../provider.ts";

/** Reads a vector: a list of numbers, or base64 of 32-bit floats. Null: it is something else. */
function readVector(embedding: unknown): Vector | null {
  const vector = typeof embedding === "string" ? decodeFloats(embedding) : embedding;
  const isVector = vector instanceof Float32Array || Array.isArray(vector);
  return isVector && vector.every((value: unknown) => Number.isFinite(value)) ? vector : null;
}

/**
 * Reads an embeddings answer: the vectors in the order of the inputs, and the token count (0 if the backend states
 * none).
 *
 * @throws ProviderError `malformed` unless there is exactly one vector of numbers for each input.
 */
export function readEmbeddings(
  body: JsonObject,
  inputs: number,
): { readonly vectors: readonly Vector[]; readonly tokens: number } {
  const data = Array.isArray(body["data"]) ? body["data"] : [];
  const vectors: Vector[] = [];
  for (const [position, entry] of data.entries()) {
    const index: unknown = isObject(entry) ? entry["index"] : undefined;
    const vector = isObject(entry) ? readVector(entry["embedding"]) : null;
    if (vector !== null) vectors[typeof index === "number" ? index : position] = vector;
  }
  if (vectors.length !== inputs || Object.keys(vectors).length !== inputs) {
    throw new ProviderError("malformed", "the provider's embeddings do not match their inputs");
  }
  const usage = body["usage"];
  return { vectors, tokens: (isObject(usage) ? readCount(usage["prompt_tokens"]) : undefined) ?? 0 };
}
