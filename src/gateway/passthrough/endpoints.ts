import * as z from "zod";
import type { JsonObject } from "../../core/encoding/json.ts";
import { lazyLooseObject } from "../../core/encoding/lazy-schema.ts";
import { costOfText } from "../../core/http/value-cost.ts";
import { type CallerEndpoint, type ResponseSchemas, rawBodyEndpoint } from "../../core/routing/endpoint.ts";
import { answerCall } from "./answer-call.ts";
import { PASSTHROUGH_ENDPOINTS, type PassthroughEndpoint } from "./endpoint-table.ts";
import { readJsonCall } from "./json-call.ts";

const STATUSES = { 501: "The provider does not have the endpoint." };

function describeAnswers({ answerMembers, otherAnswers }: PassthroughEndpoint): ResponseSchemas {
  const properties: JsonObject = Object.fromEntries(answerMembers.map((name) => [name, {}]));
  const json: JsonObject = { type: "object", description: "The provider's answer as it is.", properties };
  const other: JsonObject = { type: "string", description: "The provider's answer as it is." };
  return () => ({
    ...(answerMembers.length === 0 ? {} : { "application/json": json }),
    ...Object.fromEntries(otherAnswers.map((type) => [type, other])),
  });
}

function createJsonEndpoint(endpoint: PassthroughEndpoint): CallerEndpoint {
  return rawBodyEndpoint({
    method: "POST",
    path: endpoint.paths,
    summary: endpoint.summary,
    statuses: STATUSES,
    body: lazyLooseObject(() => ({
      model: endpoint.isModelOptional ? z.string().nullish() : z.string().min(1),
    })),
    answers: describeAnswers(endpoint),
    handler: (context, { caller, body }) => {
      const call = readJsonCall(endpoint, body);
      context.memory.shrinkTo(costOfText(body.text) + costOfText(call.promptText));
      return answerCall(context, caller, call);
    },
  });
}

/** The endpoints of the pass-through table. */
export const PASSTHROUGH_ROUTES: readonly CallerEndpoint[] = PASSTHROUGH_ENDPOINTS.map(createJsonEndpoint);
