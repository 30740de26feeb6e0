import { isObject, type JsonObject } from "../encoding/json.ts";
import { ProviderError } from "../errors/provider-error.ts";

/** Parses one JSON object sent by the provider. Throws a `ProviderError` `malformed` for anything else. */
export function parseRecord(text: string): JsonObject {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new ProviderError("malformed", "the provider sent broken JSON", 0, error);
  }
  if (!isObject(value)) throw new ProviderError("malformed", "the provider sent JSON that is no object");
  return value;
}

/** A count of tokens, or undefined when the value is none. */
export function countOf(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) && value >= 0 ? Math.floor(value) : undefined;
}

/** The usage with the counts that were stated. */
export function usageOf(prompt: unknown, completion: unknown, reasoning: unknown) {
  const counts = { prompt: countOf(prompt), completion: countOf(completion), reasoning: countOf(reasoning) };
  return {
    ...(counts.prompt === undefined ? {} : { prompt: counts.prompt }),
    ...(counts.completion === undefined ? {} : { completion: counts.completion }),
    ...(counts.reasoning === undefined ? {} : { reasoning: counts.reasoning }),
  };
}
