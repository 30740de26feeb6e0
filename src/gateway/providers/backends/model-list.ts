import { isObject, type JsonObject } from "../../../core/encoding/json.ts";
import { ProviderError } from "../../../core/errors/provider-error.ts";
import type { OfferedModel } from "../provider.ts";

/** Where most backends list their models, and how to read the list. */
export const DEFAULT_LISTING = {
  path: "/models",
  read: (body: JsonObject) => readModels(body["data"], "id"),
};

/** Reads the entries of a model list that have a name. Throws a `ProviderError` `malformed` if it is no list. */
export function readModels(list: unknown, nameMember: string): OfferedModel[] {
  if (!Array.isArray(list))
    throw new ProviderError(
      "malformed",
      "the provider's list of models is not in the form of its driver: its address or driver may be wrong",
    );
  return list.flatMap((entry: unknown) => {
    if (!isObject(entry)) return [];
    const name = entry[nameMember];
    return typeof name === "string" ? [{ name, entry }] : [];
  });
}
