import { isObject, type JsonObject } from "../../core/encoding/json.ts";
import { hasMemberInAnyCase, setMember } from "../../core/encoding/json-splice.ts";
import { invalidRequest } from "../../core/errors/gateway-error.ts";
import type { JsonBody } from "../../core/http/json-body.ts";
import { OTHER_MODEL_MEMBERS } from "../dialects/chat-completions/native.ts";
import { assertClearMembers } from "../dialects/shared/native-request.ts";
import { namesForbiddenModel } from "../generation/native/named-models.ts";
import type { PassthroughEndpoint } from "./endpoint-table.ts";
import type { PassthroughCall } from "./passthrough-call.ts";

/** The members that decide where a request goes, and what its answer is. */
const DECIDING_MEMBERS = ["model", "stream", "stream_format"];

/** Collects the texts in a value, which may have objects with the members `text`. */
function collectTexts(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (Array.isArray(value)) return value.flatMap(collectTexts);
  return isObject(value) ? collectTexts(value["text"]) : [];
}

/** Whether a body requests a stream of events. */
function wantsEvents(body: JsonObject): boolean {
  return body["stream"] === true || body["stream_format"] === "sse";
}

/**
 * Checks the stated model.
 *
 * @throws GatewayError 400 if it is no text, or if it is missing where the API demands it
 */
export function requireModelName(model: unknown, { isModelOptional }: PassthroughEndpoint): string {
  if (typeof model === "string" && model.trim() !== "") return model;
  if (isModelOptional && (model === undefined || model === null)) return "";
  throw invalidRequest("model: the name of a model is required", "model");
}

/**
 * Reads a JSON request. The body is sent as the caller wrote it, but for the model's name.
 *
 * @throws GatewayError 400 for a body that is no object, that names `model` or `stream` twice or in another case, or
 *   without a required model
 */
export function readJsonCall(endpoint: PassthroughEndpoint, { text, value }: JsonBody): PassthroughCall {
  if (!isObject(value)) throw invalidRequest("the body must be a JSON object");
  assertClearMembers(text, DECIDING_MEMBERS);
  const texts = endpoint.textMembers.flatMap((name) => collectTexts(value[name]));
  return {
    endpoint,
    model: requireModelName(value["model"], endpoint),
    namesOtherModels: (isAllowed) =>
      hasMemberInAnyCase(text, OTHER_MODEL_MEMBERS) ||
      namesForbiddenModel(text, [...endpoint.textMembers, "model"], isAllowed),
    stream: wantsEvents(value),
    contentType: "application/json",
    promptText: texts.join("\n"),
    description: text,
    jsonText: text,
    isHeld: true,
    canReplay: () => true,
    createBody: (model) => (model === "" ? text : setMember(text, "model", JSON.stringify(model))),
  };
}
