import type { Caller } from "../../auth/callers.ts";
import { costOfValue } from "../../http/value-cost.ts";
import { byNames, type UsageLabels } from "../../models/by-names.ts";
import type { Context } from "../../platform/context.ts";
import type { StoredResponse } from "../../platform/responses.ts";
import { previousId } from "./echo.ts";
import { ID } from "./names.ts";
import { readPrevious, resolveReferences } from "./references.ts";
import { inputItems, type ResponsesRequest, type ResponsesTurn, toTurn } from "./request.ts";

/** Labels under which usage counts requests for a response. */
export const CHAT_USAGE: UsageLabels = { dialect: ID, operation: "chat" };

/** A translated request and the data that it refers to. */
export interface Asked {
  readonly turn: ResponsesTurn;
  /** The response that the request continues. */
  readonly previous: StoredResponse | null;
  /** The request's own items, with references resolved. */
  readonly items: readonly unknown[];
}

/**
 * Reads the data that a request refers to, and translates the request.
 *
 * @param usage as for `readWithModelNames`
 * @throws GatewayError 400 that names the invalid field, 400 `previous_response_not_found`, 404 `response_not_found`, 413
 * and 503 if the memory budget is exhausted.
 */
export async function askedBy(
  context: Context,
  caller: Caller,
  body: ResponsesRequest,
  usage?: UsageLabels,
): Promise<Asked> {
  const store = context.platform.responses(caller.owner);
  const id = previousId(body);
  const [items, previous] = await Promise.all([
    resolveReferences(inputItems(body), store, context.hold),
    id === null ? null : readPrevious(store, id, context.connection),
  ]);
  // Stored data counts in the memory budget like received data.
  if (previous !== null) context.hold.demand(costOfValue(previous));
  const turn = await byNames(
    context,
    body,
    (asked, naming) => toTurn(asked, items, previous?.messages ?? [], naming),
    usage,
  );
  return { turn, previous, items };
}
