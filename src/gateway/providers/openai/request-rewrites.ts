import type { FieldRule } from "../refused-fields/field-rules.ts";
import { fieldRejectionPattern } from "../refused-fields/rejection-patterns.ts";
import type { WireMessage, WireRequest } from "./wire.ts";

/** Changes to requests for backends that refuse a field which the table of optional members cannot simply leave out. */
export const REQUEST_REWRITES: readonly FieldRule<WireRequest>[] = [
  {
    name: "reasoning_effort",
    rejectionPattern: /reasoning_effort/,
    // Keep an effort that the caller requested: the caller must correct it.
    isPresent: (request) => request.reasoning_effort === "none",
    remove: ({ reasoning_effort: _, ...rest }) => rest,
    isUnreported: true,
  },
  {
    name: "response_format",
    // The prompt also asks for the format, and a whole answer is checked against it.
    rejectionPattern: fieldRejectionPattern("(?:response_format|json_schema)"),
    isPresent: (request) => request.response_format?.type === "json_schema",
    remove: (request) => ({ ...request, response_format: { type: "json_object" } }),
  },
  {
    name: "response_format",
    rejectionPattern: fieldRejectionPattern("(?:response_format|json_object)"),
    isPresent: (request) => request.response_format?.type === "json_object",
    remove: ({ response_format: _, ...rest }) => rest,
  },
  {
    name: "messages.reasoning_content",
    rejectionPattern: /reasoning_content/,
    isPresent: (request) => request.messages.some(hasReasoning),
    remove: (request) => ({ ...request, messages: request.messages.map(withoutReasoning) }),
  },
];

function hasReasoning(message: WireMessage): boolean {
  return message.role === "assistant" && message.reasoning_content !== undefined;
}

function withoutReasoning(message: WireMessage): WireMessage {
  if (message.role !== "assistant") return message;
  const { reasoning_content: _, ...rest } = message;
  return rest;
}
