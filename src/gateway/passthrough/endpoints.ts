import * as z from "zod";
import type { JsonObject } from "../../core/encoding/json.ts";
import { lazyLooseObject } from "../../core/encoding/lazy-schema.ts";
import { costOfText } from "../../core/http/value-cost.ts";
import {
  type CallerEndpoint,
  callerEndpoint,
  type ResponseSchemas,
  rawBodyEndpoint,
} from "../../core/routing/endpoint.ts";
import { answerCall } from "./answer-call.ts";
import { PASSTHROUGH_ENDPOINTS, type PassthroughEndpoint } from "./endpoint-table.ts";
import { readJsonCall } from "./json-call.ts";

const FORM_TYPE = /^\s*multipart\/form-data\b/i;
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

/** The form's file is in another field at each endpoint, and the vendors add fields. */
const FORM_SCHEMA: JsonObject = { type: "object", properties: { model: { type: "string" } } };

const loadForms = () => import("./form-call.ts");
const loadUnreadBody = () => import("../files/unread-body.ts");

function createFormEndpoint(endpoint: PassthroughEndpoint): CallerEndpoint {
  const takesJson = endpoint.bodies.includes("json");
  return callerEndpoint({
    method: "POST",
    path: endpoint.paths,
    ...(takesJson ? { when: ({ headers }) => FORM_TYPE.test(headers.get("content-type") ?? "") } : {}),
    summary: endpoint.summary,
    statuses: STATUSES,
    streamedBody: { mediaType: "multipart/form-data", schema: FORM_SCHEMA },
    answers: describeAnswers(endpoint),
    handler: async (context, { caller }) => {
      const [{ FormCall }, { discardUnreadBody, getUnreadBody }] = await Promise.all([
        loadForms(),
        loadUnreadBody(),
      ]);
      let call: InstanceType<typeof FormCall> | undefined;
      try {
        call = new FormCall(context, endpoint);
        await call.readHead();
      } catch (error) {
        await discardUnreadBody(call ?? getUnreadBody(context.request), error);
        throw error;
      }
      const form = call;
      return answerCall(context, caller, form, async (error) => {
        if (error === null) await form.cancel().catch(() => undefined);
        else await discardUnreadBody(form, error);
      });
    },
    onAuthenticationFailed: async (context, error) => {
      const { discardUnreadBody, getUnreadBody } = await loadUnreadBody();
      await discardUnreadBody(getUnreadBody(context.request), error);
    },
  });
}

function createEndpoints(endpoint: PassthroughEndpoint): CallerEndpoint[] {
  return endpoint.bodies.map((body) =>
    body === "form" ? createFormEndpoint(endpoint) : createJsonEndpoint(endpoint),
  );
}

/** The endpoints of the pass-through table. */
export const TABLE_ENDPOINTS: readonly CallerEndpoint[] = PASSTHROUGH_ENDPOINTS.flatMap(createEndpoints);
