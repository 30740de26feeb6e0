import type { Caller } from "../../../core/auth/callers.ts";
import { costOfValue } from "../../../core/http/value-cost.ts";
import type { Context } from "../../../core/ports/context.ts";
import type { StoredResponse } from "../../../core/ports/responses.ts";
import { readWithModelNames, type UsageLabels } from "../../models/read-with-model-names.ts";
import { DIALECT_ID } from "./names.ts";
import { readPreviousResponse, resolveReferences } from "./references.ts";
import {
  getInputItems,
  type ResponsesRequest,
  type TranslatedResponsesRequest,
  translateResponsesRequest,
} from "./request.ts";
import { getPreviousResponseId } from "./request-fields.ts";

/** Labels under which usage counts requests for a response. */
export const CHAT_USAGE: UsageLabels = { dialect: DIALECT_ID, operation: "chat" };

/** A translated request and the data that it refers to. */
export interface ResponsesInput {
  readonly translated: TranslatedResponsesRequest;
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
export async function readResponsesInput(
  context: Context,
  caller: Caller,
  body: ResponsesRequest,
  usage?: UsageLabels,
): Promise<ResponsesInput> {
  const store = context.platform.responses(caller.owner, context.startedAt);
  const id = getPreviousResponseId(body);
  const [items, previous] = await Promise.all([
    resolveReferences(getInputItems(body), store, context.memory),
    id === null ? null : readPreviousResponse(store, id, context.connection),
  ]);
  // Stored data counts in the memory budget like received data.
  if (previous !== null) context.memory.reserveNow(costOfValue(previous));
  const turn = await readWithModelNames(
    context,
    body,
    (requestBody, nameConfig) =>
      translateResponsesRequest(requestBody, items, previous?.messages ?? [], nameConfig),
    usage,
  );
  return { translated: turn, previous, items };
}
