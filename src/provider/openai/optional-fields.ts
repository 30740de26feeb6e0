import { hints, type OptionalField, refused } from "../optional-fields.ts";
import type { WireMessage, WireRequest, WireTool } from "./wire.ts";

const HINTS = hints<WireRequest>([
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
    named: refused("web[ _]search\\w*"),
    present: (request) => request.web_search_options !== undefined,
    without: ({ web_search_options: _, ...rest }) => rest,
  },
  {
    named: /stream_options/,
    present: (request) => request.stream_options !== undefined,
    without: ({ stream_options: _, ...rest }) => rest,
  },
  {
    named: /chat_template_kwargs/,
    present: (request) => request.chat_template_kwargs !== undefined,
    without: ({ chat_template_kwargs: _, ...rest }) => rest,
  },
  {
    named: /reasoning_effort/,
    // Keep an effort that the caller requested: the caller must correct it.
    present: (request) => request.reasoning_effort === "none",
    without: ({ reasoning_effort: _, ...rest }) => rest,
  },
  {
    named: /parallel_tool_calls/,
    present: (request) => request.parallel_tool_calls !== undefined,
    without: ({ parallel_tool_calls: _, ...rest }) => rest,
  },
  {
    // The prompt also asks for the format, and a whole answer is checked against it.
    named: refused("(?:response_format|json_schema)"),
    present: (request) => request.response_format?.type === "json_schema",
    without: (request) => ({ ...request, response_format: { type: "json_object" } }),
  },
  {
    named: refused("(?:response_format|json_object)"),
    present: (request) => request.response_format?.type === "json_object",
    without: ({ response_format: _, ...rest }) => rest,
  },
  {
    named: refused("(?:tools\\[\\d+\\]\\.function\\.)?strict"),
    present: ({ tools = [] }) => tools.some((tool) => tool.function.strict !== undefined),
    without: ({ tools = [], ...rest }) => ({ ...rest, tools: tools.map(withoutStrict) }),
  },
  {
    // Newer models of some vendors accept only the new name of this limit.
    named: /max_completion_tokens/,
    present: (request) => request.max_tokens !== undefined,
    without: ({ max_tokens: limit, ...rest }) =>
      limit === undefined ? rest : { ...rest, max_completion_tokens: limit },
  },
  {
    named: /reasoning_content/,
    present: (request) => request.messages.some(hasReasoning),
    without: (request) => ({ ...request, messages: request.messages.map(withoutReasoning) }),
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
