import { isObject, type JsonObject, objectIn } from "../../encoding/json.ts";
import { GatewayError } from "../../errors/gateway-error.ts";
import type { BodyHold } from "../../http/body-budget.ts";
import { costOfValue } from "../../http/value-cost.ts";
import type { ConnectionResponses, ResponseStore, StoredResponse } from "../../platform/responses.ts";
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
export async function readPrevious(
  store: ResponseStore,
  id: string,
  connection?: ConnectionResponses,
): Promise<StoredResponse> {
  const stored = connection?.get(id) ?? (await store.get(id));
  if (stored !== null && stored.failed !== true) return stored;
  throw new GatewayError(400, `previous response with id ${JSON.stringify(id)} not found`, {
    code: "previous_response_not_found",
    param: "previous_response_id",
  });
}

/** The items of a stored response's output. */
export function outputOf({ body }: StoredResponse): JsonObject[] {
  const { output } = objectIn(body);
  return Array.isArray(output) ? output.filter(isObject) : [];
}

/** The items that a stored response was made from, oldest first. */
export function inputOf({ input }: StoredResponse): JsonObject[] {
  // What was stored before there was such a list has none.
  const items: unknown = JSON.parse(input ?? "[]");
  return Array.isArray(items) ? items.filter(isObject) : [];
}

/**
 * Puts the items that `item_reference` items point at in their places. A reference to an item that never was ours is
 * left as it is, and tells nothing.
 *
 * @throws GatewayError 404 `response_not_found` when the response that had the item is gone: to answer without it would
 * be to forget silently. 413 and 503 for want of memory.
 */
export async function resolveReferences(
  items: readonly unknown[],
  store: ResponseStore,
  hold: BodyHold,
): Promise<readonly unknown[]> {
  const known = new Map<string, readonly JsonObject[]>();
  const resolved: unknown[] = [];
  for (const [index, item] of items.entries()) {
    const reference =
      isObject(item) && item["type"] === "item_reference" ? optionalString(item, "id") : undefined;
    const address = reference === undefined ? null : itemAddress(reference);
    if (address === null) {
      resolved.push(item);
      continue;
    }
    const source = `${address.responseId} ${address.input}`;
    let kept = known.get(source);
    if (kept === undefined) {
      const stored = await store.get(address.responseId);
      if (stored === null) throw responseNotFound(address.responseId, `input[${index}].id`);
      kept = address.input ? inputOf(stored) : outputOf(stored);
      hold.demand(costOfValue(kept));
      known.set(source, kept);
    }
    resolved.push(kept.find(({ id }) => id === reference));
  }
  return resolved.filter((item) => item !== undefined);
}
