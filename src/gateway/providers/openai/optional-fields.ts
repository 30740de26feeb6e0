import { fieldRefusalPattern, hintFields, type OptionalField } from "../optional-fields.ts";
import type { WireMessage, WireRequest, WireTool } from "./wire.ts";

const HINTS = hintFields<WireRequest>([
  // Reasoning models of some vendors accept only the default.
  "temperature",
  "top_p",
  "top_k",
  "min_p",
  "presence_penalty",
  "frequency_penalty",
  "repetition_penalty",
  "logit_bias",
  "seed",
  "verbosity",
  "user",
  "prompt_cache_key",
]);

/**
 * The fields that not every chat-completions backend supports. Other fields, such as log probabilities, are never
 * omitted: the caller receives the backend's refusal.
 */
export const OPTIONAL_FIELDS: readonly OptionalField<WireRequest>[] = [
  ...HINTS,
  {
    // A model that does not search answers from its own knowledge.
    refusalPattern: fieldRefusalPattern("web[ _]search\\w*"),
    isPresent: (request) => request.web_search_options !== undefined,
    remove: ({ web_search_options: _, ...rest }) => rest,
  },
  {
    refusalPattern: /stream_options/,
    isPresent: (request) => request.stream_options !== undefined,
    remove: ({ stream_options: _, ...rest }) => rest,
  },
  {
    refusalPattern: /chat_template_kwargs/,
    isPresent: (request) => request.chat_template_kwargs !== undefined,
    remove: ({ chat_template_kwargs: _, ...rest }) => rest,
  },
  {
    refusalPattern: /reasoning_effort/,
    // Keep an effort that the caller requested: the caller must correct it.
    isPresent: (request) => request.reasoning_effort === "none",
    remove: ({ reasoning_effort: _, ...rest }) => rest,
  },
  {
    refusalPattern: /parallel_tool_calls/,
    isPresent: (request) => request.parallel_tool_calls !== undefined,
    remove: ({ parallel_tool_calls: _, ...rest }) => rest,
  },
  {
    // The prompt also asks for the format, and a whole answer is checked against it.
    refusalPattern: fieldRefusalPattern("(?:response_format|json_schema)"),
    isPresent: (request) => request.response_format?.type === "json_schema",
    remove: (request) => ({ ...request, response_format: { type: "json_object" } }),
  },
  {
    refusalPattern: fieldRefusalPattern("(?:response_format|json_object)"),
    isPresent: (request) => request.response_format?.type === "json_object",
    remove: ({ response_format: _, ...rest }) => rest,
  },
  {
    refusalPattern: fieldRefusalPattern("(?:tools\\[\\d+\\]\\.function\\.)?strict"),
    isPresent: ({ tools = [] }) => tools.some((tool) => tool.function.strict !== undefined),
    remove: ({ tools = [], ...rest }) => ({ ...rest, tools: tools.map(withoutStrict) }),
  },
  {
    // Newer models of some vendors accept only the new name of this limit.
    refusalPattern: /max_completion_tokens/,
    isPresent: (request) => request.max_tokens !== undefined,
    remove: ({ max_tokens: limit, ...rest }) =>
      limit === undefined ? rest : { ...rest, max_completion_tokens: limit },
  },
  {
    refusalPattern: /reasoning_content/,
    isPresent: (request) => request.messages.some(hasReasoning),
    remove: (request) => ({ ...request, messages: request.messages.map(withoutReasoning) }),
  },
];

function withoutStrict(tool: WireTool): WireTool {
  const { strict: _, ...rest } = tool.function;
  return { ...tool, function: rest };
}

function hasReasoning(message: WireMessage): boolean {
  return message.role === "assistant" && message.reasoning_content !== undefined;
}

function withoutReasoning(message: WireMessage): WireMessage {
  if (message.role !== "assistant") return message;
  const { reasoning_content: _, ...rest } = message;
  return rest;
}
