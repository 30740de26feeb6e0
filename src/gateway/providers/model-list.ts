import { isObject, type JsonObject } from "../../core/encoding/json.ts";
import { ProviderError } from "../../core/errors/provider-error.ts";

/** Where most backends list their models, and how to read the names. */
export const DEFAULT_LISTING = {
  path: "/models",
  names: (body: JsonObject) => modelNames(body["data"], "id"),
};

/** Reads one member of each entry of a model list. Throws a `ProviderError` `malformed` if it is no list. */
export function modelNames(list: unknown, member: string): string[] {
  if (!Array.isArray(list))
    throw new ProviderError(
      "malformed",
      "the provider's list of models is not in the form of its driver: its address or driver may be wrong",
    );
  return list.flatMap((entry: unknown) => {
    const name = isObject(entry) ? entry[member] : undefined;
    return typeof name === "string" ? [name] : [];
  });
}
