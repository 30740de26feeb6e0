import { isObject } from "../../encoding/json.ts";
import { GatewayError } from "../../errors/gateway-error.ts";
import type { ResponseStore, StoredResponse } from "../../platform/responses.ts";
import { optionalString } from "../shared/members.ts";
import { itemAddress } from "./ids.ts";

/** The 404 of a stored response that is not there, is not there any more, or is another caller's. */
export function responseNotFound(id: string, param: string): GatewayError {
  return new GatewayError(404, `no response with id ${JSON.stringify(id)} is stored`, {
    code: "response_not_found",
    param,
  });
}

/**
 * Reads the response that a request continues.
 *
 * @throws GatewayError 400 `previous_response_not_found`, as the real service does: its clients then send the whole
 * conversation again. One that failed has nothing to go on from.
 */
export async function readPrevious(store: ResponseStore, id: string): Promise<StoredResponse> {
  const stored = await store.get(id);
  if (stored !== null && stored.failed !== true) return stored;
  throw new GatewayError(400, `previous response with id ${JSON.stringify(id)} not found`, {
    code: "previous_response_not_found",
    param: "previous_response_id",
  });
}

function outputOf(stored: StoredResponse): unknown[] {
  const body: unknown = JSON.parse(stored.body);
  const output = isObject(body) ? body["output"] : undefined;
  return Array.isArray(output) ? output : [];
}

/**
 * Puts the items that `item_reference` items point at in their places. A reference to an item that never was ours is
 * left as it is, and tells nothing.
 *
 * @throws GatewayError 404 `response_not_found` when the response that had the item is gone: to answer without it would
 * be to forget silently.
 */
export async function resolveReferences(
  items: readonly unknown[],
  store: ResponseStore,
): Promise<readonly unknown[]> {
  const outputs = new Map<string, unknown[]>();
  const resolved: unknown[] = [];
  for (const [index, item] of items.entries()) {
    const reference =
      isObject(item) && item["type"] === "item_reference" ? optionalString(item, "id") : undefined;
    const address = reference === undefined ? null : itemAddress(reference);
    if (address === null) {
      resolved.push(item);
      continue;
    }
    let output = outputs.get(address.responseId);
    if (output === undefined) {
      const stored = await store.get(address.responseId);
      if (stored === null) throw responseNotFound(address.responseId, `input[${index}].id`);
      output = outputOf(stored);
      outputs.set(address.responseId, output);
    }
    resolved.push(output[address.index]);
  }
  return resolved.filter((item) => item !== undefined);
}
