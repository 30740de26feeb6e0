import { isObject, type JsonObject } from "../../../core/encoding/json.ts";
import { ProviderError } from "../../../core/errors/provider-error.ts";
import { readCount } from "../json.ts";

function readVector(entry: unknown): readonly number[] | null {
  const vector: unknown = isObject(entry) ? entry["embedding"] : null;
  if (!Array.isArray(vector)) return null;
  const numbers = vector.filter((value) => Number.isFinite(value));
  return numbers.length === vector.length ? numbers : null;
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
): { readonly vectors: readonly (readonly number[])[]; readonly tokens: number } {
  const data = Array.isArray(body["data"]) ? body["data"] : [];
  const vectors: (readonly number[])[] = [];
  for (const [position, entry] of data.entries()) {
    const index: unknown = isObject(entry) ? entry["index"] : undefined;
    const vector = readVector(entry);
    if (vector !== null) vectors[typeof index === "number" ? index : position] = vector;
  }
  if (vectors.length !== inputs || Object.keys(vectors).length !== inputs) {
    throw new ProviderError("malformed", "the provider's embeddings do not match their inputs");
  }
  const usage = body["usage"];
  return { vectors, tokens: (isObject(usage) ? readCount(usage["prompt_tokens"]) : undefined) ?? 0 };
}
