import { isObject, type JsonObject } from "../../../core/encoding/json.ts";
import type { AnswerInfo } from "../../generation/generation-job.ts";
import { toFiniteNumber } from "../shared/field-schemas.ts";
import { optionalString } from "../shared/members.ts";
import type { ResponsesRequest } from "./request.ts";

const EFFORTS = new Set(["none", "minimal", "low", "medium", "high", "xhigh", "max"]);
const SUMMARIES = new Set(["auto", "concise", "detailed"]);
const VERBOSITIES = new Set(["low", "medium", "high"]);

/** Returns a string that the real API allows in this field, else null. */
function knownOrNull(values: ReadonlySet<string>, value: unknown): string | null {
  return typeof value === "string" && values.has(value) ? value : null;
}

const textOrNull = (value: unknown) => (typeof value === "string" ? value : null);

function integerOrNull(value: unknown): number | null {
  const number = toFiniteNumber(value);
  return number === undefined ? null : Math.trunc(number);
}

/** Flattens a tool or choice in the chat-completions form, whose fields are nested one level deeper. */
function flattenNested(declared: JsonObject, type: string): JsonObject {
  const { [type]: nested, ...outerFields } = declared;
  return isObject(nested) ? { ...outerFields, ...nested } : declared;
}

/** Returns a declared tool with all fields that the real API always returns. */
function toPublicTool(declared: unknown): unknown {
  if (!isObject(declared)) return declared;
  const type = optionalString(declared, "type") ?? "function";
  if (type === "custom") return { ...flattenNested(declared, type), type };
  if (type === "namespace") {
    const tools = Array.isArray(declared["tools"]) ? declared["tools"].map(toPublicTool) : [];
    return { ...declared, description: textOrNull(declared["description"]) ?? "", tools };
  }
  if (type !== "function") return declared;
  const flat = flattenNested(declared, type);
  return {
    ...flat,
    type,
    description: textOrNull(flat["description"]),
    parameters: isObject(flat["parameters"]) ? flat["parameters"] : null,
    strict: flat["strict"] === true,
  };
}

/** Returns `tool_choice` in the form of the real API. */
function toPublicToolChoice(choice: unknown): unknown {
  if (choice === undefined || choice === null) return "auto";
  if (choice === "any") return "required";
  if (!isObject(choice)) return choice;
  const type = optionalString(choice, "type") ?? "";
  if (type === "auto" || type === "none" || type === "required") return type;
  return type === "function" || type === "custom" ? flattenNested(choice, type) : choice;
}

function toPublicTextFormat(format: JsonObject | null | undefined): JsonObject {
  if (format === null || format === undefined) return { type: "text" };
  if (format["type"] !== "json_schema") return format;
  const { description, ...flat } = flattenNested(format, "json_schema");
  return {
    ...flat,
    name: textOrNull(flat["name"]) ?? "response",
    // The published schema does not allow null.
    ...(typeof description === "string" ? { description } : {}),
    strict: flat["strict"] === true,
  };
}

function toPublicTextSettings(text: ResponsesRequest["text"]): JsonObject {
  const verbosity = knownOrNull(VERBOSITIES, text?.verbosity);
  return { format: toPublicTextFormat(text?.format), ...(verbosity === null ? {} : { verbosity }) };
}

/**
 * Converts the values of `metadata` to strings, because the real API allows only strings. Other values become JSON text.
 */
function toStringMetadata(metadata: JsonObject | null | undefined): Record<string, string> {
  const entries = Object.entries(metadata ?? {});
  return Object.fromEntries(
    entries.map(([name, value]) => [name, typeof value === "string" ? value : JSON.stringify(value)]),
  );
}

/**
 * Builds the fields of a response that repeat its request, in the full public shape of the real API. Absent fields get the
 * real API's default. Values that the real API does not allow are omitted, so that typed clients can parse the object.
 */
export function buildRequestFields(body: ResponsesRequest, info: AnswerInfo): Record<string, unknown> {
  const { conversation } = info;
  const { reasoning } = body;
  const { temperature, topP, maxTokens, reasoningEffort } = conversation.options;
  return {
    instructions: body.instructions ?? null,
    max_output_tokens: integerOrNull(maxTokens),
    max_tool_calls: integerOrNull(body["max_tool_calls"]),
    model: conversation.model.id,
    parallel_tool_calls: conversation.parallelToolCalls,
    previous_response_id: getPreviousResponseId(body),
    prompt_cache_key: textOrNull(body["prompt_cache_key"]),
    reasoning: {
      effort: knownOrNull(EFFORTS, reasoningEffort),
      summary: knownOrNull(SUMMARIES, isObject(reasoning) ? reasoning["summary"] : null),
    },
    safety_identifier: textOrNull(body["safety_identifier"]),
    service_tier: "default",
    store: body.store ?? true,
    temperature: temperature ?? 1,
    text: toPublicTextSettings(body.text),
    tool_choice: toPublicToolChoice(body.tool_choice),
    tools: Array.isArray(body.tools) ? body.tools.map(toPublicTool) : [],
    top_logprobs: integerOrNull(body["top_logprobs"]) ?? 0,
    top_p: topP ?? 1,
    presence_penalty: toFiniteNumber(body["presence_penalty"]) ?? 0,
    frequency_penalty: toFiniteNumber(body["frequency_penalty"]) ?? 0,
    truncation: body["truncation"] === "auto" ? "auto" : "disabled",
    user: textOrNull(body["user"]),
    metadata: toStringMetadata(body.metadata),
  };
}

/** Returns the id of the response that a request continues, or null. Some clients send an empty string for "none". */
export function getPreviousResponseId(body: Pick<ResponsesRequest, "previous_response_id">): string | null {
  const id = body.previous_response_id ?? "";
  return id === "" ? null : id;
}
