import { isObject, type JsonObject, parseObject } from "../../../core/encoding/json.ts";
import { GatewayError } from "../../../core/errors/gateway-error.ts";
import type { MemoryReservation } from "../../../core/http/memory-budget.ts";
import { costOfValue } from "../../../core/http/value-cost.ts";
import type { ConnectionResponses, ResponseStore, StoredResponse } from "../../../core/ports/responses.ts";
import { optionalString } from "../shared/members.ts";
import { parseItemId } from "./ids.ts";

/** Creates the 404 for a stored response that does not exist, has expired, or belongs to another caller. */
export function responseNotFound(id: string, param: string): GatewayError {
  return new GatewayError(404, `no response with id ${JSON.stringify(id)} is stored`, {
    code: "response_not_found",
    param,
  });
}

/** Creates the 404 for an item that its stored response does not have. */
function itemNotFound(responseId: string, param: string): GatewayError {
  return new GatewayError(404, `the stored response ${JSON.stringify(responseId)} has no such item`, {
    code: "response_not_found",
    param,
  });
}

/**
 * Reads the response that a request continues.
 *
 * @throws GatewayError 400 `previous_response_not_found` if it does not exist or has failed. The real service uses the same
 * code: its clients then send the whole conversation again.
 */
export async function readPreviousResponse(
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

/** Returns the output items of a stored response. */
export function getStoredOutput({ body }: StoredResponse): JsonObject[] {
  const { output } = parseObject(body);
  return Array.isArray(output) ? output.filter(isObject) : [];
}

/** Returns the input items of a stored response, oldest first. */
export function getStoredInput({ input }: StoredResponse): JsonObject[] {
  // Responses stored by older versions have no `input`.
  const items: unknown = JSON.parse(input ?? "[]");
  return Array.isArray(items) ? items.filter(isObject) : [];
}

/**
 * Replaces each `item_reference` item with the item that it refers to. References whose ids the gateway did not create stay
 * unchanged: the translation ignores them.
 *
 * @throws GatewayError 404 `response_not_found` if the response of the item no longer exists, or has no such item: an answer
 * without the item would silently ignore it. 413 and 503 if the memory budget is exhausted.
 */
export async function resolveReferences(
  items: readonly unknown[],
  store: ResponseStore,
  reservation: MemoryReservation,
): Promise<readonly unknown[]> {
  const known = new Map<string, readonly JsonObject[]>();
  const resolved: unknown[] = [];
  for (const [index, item] of items.entries()) {
    const reference =
      isObject(item) && item["type"] === "item_reference" ? optionalString(item, "id") : undefined;
    const address = reference === undefined ? null : parseItemId(reference);
    if (address === null) {
      resolved.push(item);
      continue;
    }
    const source = `${address.responseId} ${address.isInput}`;
    let storedItems = known.get(source);
    if (storedItems === undefined) {
      const stored = await store.get(address.responseId);
      if (stored === null) throw responseNotFound(address.responseId, `input[${index}].id`);
      storedItems = address.isInput ? getStoredInput(stored) : getStoredOutput(stored);
      reservation.reserveNow(costOfValue(storedItems));
      known.set(source, storedItems);
    }
    const found = storedItems.find(({ id }) => id === reference);
    if (found === undefined) throw itemNotFound(address.responseId, `input[${index}].id`);
    resolved.push(found);
  }
  return resolved;
}
