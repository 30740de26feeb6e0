import * as z from "zod";
import type { Caller } from "../../../core/auth/callers.ts";
import type { JsonObject } from "../../../core/encoding/json.ts";
import { lazyLooseObject } from "../../../core/encoding/lazy-schema.ts";
import { invalidRequest } from "../../../core/errors/gateway-error.ts";
import { EVENT_STREAM_HEADERS } from "../../../core/http/event-stream.ts";
import type { Context } from "../../../core/ports/context.ts";
import type { StoredResponse } from "../../../core/ports/responses.ts";
import { respondJsonWithinBudget, respondWithinBudget } from "../../../core/routing/budgeted-response.ts";
import { callerEndpoint, jsonResponse, type PathParams } from "../../../core/routing/endpoint.ts";
import { deletedSchema, inputItemsSchema, responseAnswers, responseSchema } from "./answers.ts";
import { getStoredInput, responseNotFound } from "./references.ts";
import { renderStoredResponse } from "./replay.ts";

const DEFAULT_PAGE_SIZE = 20;
const MAX_PAGE_SIZE = 100;

const toPaths = (rest: string) => [`/v1/responses/:response_id${rest}`, `/responses/:response_id${rest}`];

const getResponseId = (params: PathParams) => params["response_id"] ?? "";

/**
 * Reads the caller's own response with the id in the path.
 *
 * @throws GatewayError 404 `response_not_found`.
 */
async function readStoredResponse(
  context: Context,
  caller: Caller,
  params: PathParams,
): Promise<StoredResponse> {
  const id = getResponseId(params);
  const stored = await context.platform.responses(caller.owner, context.startedAt).get(id);
  if (stored === null) throw responseNotFound(id, "response_id");
  return stored;
}

/**
 * `GET /v1/responses/{response_id}` (docs/contract/generations.md): the caller's own stored response, until it expires.
 * With `stream=true`, the answer consists of the response's events after the number `starting_after`.
 */
export const readResponse = callerEndpoint({
  method: "GET",
  path: toPaths(""),
  summary: "Read a stored response",
  query: z.looseObject({
    stream: z.enum(["true", "false", "1", "0", ""]).optional(),
    starting_after: z.coerce.number().int().min(0).optional(),
  }),
  answers: responseAnswers,
  handler: async (context, { caller, params, query }) => {
    const { body } = await readStoredResponse(context, caller, params);
    const { stream, starting_after: after } = query;
    if (stream === "true" || stream === "1") {
      return respondWithinBudget(context, renderStoredResponse(body, after ?? -1), {
        headers: EVENT_STREAM_HEADERS,
      });
    }
    return respondWithinBudget(context, body, { headers: { "content-type": "application/json" } });
  },
});

/** `DELETE /v1/responses/{response_id}` (docs/contract/generations.md). */
export const deleteResponse = callerEndpoint({
  method: "DELETE",
  path: toPaths(""),
  summary: "Delete a stored response",
  answers: jsonResponse(deletedSchema),
  handler: async (context, { caller, params }) => {
    const id = getResponseId(params);
    if (!(await context.platform.responses(caller.owner, context.startedAt).remove(id)))
      throw responseNotFound(id, "response_id");
    return Response.json({ id, object: "response", deleted: true });
  },
});

/**
 * `POST /v1/responses/{response_id}/cancel` (docs/contract/generations.md): always an error, because background
 * responses are not supported.
 */
export const cancelResponse = callerEndpoint({
  method: "POST",
  path: toPaths("/cancel"),
  summary: "Cancel a response that runs in the background",
  answers: jsonResponse(responseSchema),
  handler: async (context, { caller, params }) => {
    await readStoredResponse(context, caller, params);
    throw invalidRequest("only a response that was created with background: true can be cancelled");
  },
});

const pageSchema = lazyLooseObject(() => ({
  limit: z.coerce.number().int().min(1).max(MAX_PAGE_SIZE).optional(),
  order: z.enum(["asc", "desc"]).optional(),
  after: z.string().optional(),
}));

/**
 * Returns the items after the item with the id `after`.
 *
 * @throws GatewayError 400 if no item has that id.
 */
function itemsAfter(items: readonly JsonObject[], after: string | undefined): readonly JsonObject[] {
  if (after === undefined || after === "") return items;
  const index = items.findIndex(({ id }) => id === after);
  if (index < 0) throw invalidRequest(`after: no input item has the id ${JSON.stringify(after)}`, "after");
  return items.slice(index + 1);
}

/**
 * `GET /v1/responses/{response_id}/input_items` (docs/contract/generations.md):
 * the input items of a response, newest first.
 */
export const listInputItems = callerEndpoint({
  method: "GET",
  path: toPaths("/input_items"),
  summary: "List the input items of a stored response",
  query: pageSchema,
  answers: jsonResponse(inputItemsSchema),
  handler: async (
    context,
    { caller, params, query: { limit = DEFAULT_PAGE_SIZE, order = "desc", after } },
  ) => {
    const items = getStoredInput(await readStoredResponse(context, caller, params));
    const ordered = itemsAfter(order === "asc" ? items : items.toReversed(), after);
    const data = ordered.slice(0, limit);
    return respondJsonWithinBudget(context, {
      object: "list",
      data,
      first_id: data[0]?.["id"] ?? "",
      last_id: data.at(-1)?.["id"] ?? "",
      has_more: data.length < ordered.length,
    });
  },
});
