import * as z from "zod";
import { lazyLooseObject } from "../../core/encoding/lazy-schema.ts";
import { respondJsonWithinBudget } from "../../core/routing/budgeted-response.ts";
import {
  type CallerEndpoint,
  callerEndpoint,
  jsonResponse,
  rawBodyEndpoint,
} from "../../core/routing/endpoint.ts";
import { assertNoGuardrails } from "../guardrails/unchecked-endpoints.ts";
import { createBatch, listBatches, readOrCancelBatch } from "./batches.ts";

const STATUSES = { 501: "The provider does not have the endpoint." };
const PATHS = ["/v1/batches"];
const MAX_PAGE_SIZE = 100;

const batchSchema = () =>
  z.looseObject({ id: z.string(), input_file_id: z.string() }).describe("The provider's batch.");

const create = rawBodyEndpoint({
  method: "POST",
  path: PATHS,
  summary: "Create a batch of requests",
  statuses: STATUSES,
  body: lazyLooseObject(() => ({ input_file_id: z.string().min(1) })),
  answers: jsonResponse(batchSchema),
  handler: async (context, { caller, body }) => {
    await assertNoGuardrails(context, caller);
    return Response.json(await createBatch({ context, caller }, body));
  },
});

const list = callerEndpoint({
  method: "GET",
  path: PATHS,
  summary: "List the batches",
  query: lazyLooseObject(() => ({
    limit: z.coerce.number().int().min(1).max(MAX_PAGE_SIZE).default(20),
    after: z.string().optional(),
  })),
  answers: jsonResponse(() =>
    z.object({
      object: z.literal("list"),
      data: z.array(batchSchema()),
      first_id: z.string().nullable(),
      last_id: z.string().nullable(),
      has_more: z.boolean(),
    }),
  ),
  handler: async (context, { caller, query: { after, limit } }) => {
    const { data, hasMore } = await listBatches({ context, caller }, after, limit);
    return respondJsonWithinBudget(context, {
      object: "list",
      data,
      first_id: data[0]?.id ?? null,
      last_id: data.at(-1)?.id ?? null,
      has_more: hasMore,
    });
  },
});

const read = callerEndpoint({
  method: "GET",
  path: PATHS.map((path) => `${path}/:batch_id`),
  summary: "Read a batch",
  answers: jsonResponse(batchSchema),
  handler: async (context, { caller, params }) =>
    Response.json(await readOrCancelBatch({ context, caller }, params["batch_id"] ?? "", "")),
});

const cancel = callerEndpoint({
  method: "POST",
  path: PATHS.map((path) => `${path}/:batch_id/cancel`),
  summary: "Cancel a batch",
  answers: jsonResponse(batchSchema),
  handler: async (context, { caller, params }) =>
    Response.json(await readOrCancelBatch({ context, caller }, params["batch_id"] ?? "", "cancel")),
});

/** The endpoints for batches. */
export const BATCH_ENDPOINTS: readonly CallerEndpoint[] = [create, list, read, cancel];
