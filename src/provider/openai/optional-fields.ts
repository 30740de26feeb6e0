import type { OptionalField } from "../optional-fields.ts";
import type { WireMessage, WireRequest } from "./wire.ts";

/** What not every chat-completions backend knows. */
export const OPTIONAL_FIELDS: readonly OptionalField<WireRequest>[] = [
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
    // An effort that the caller asked for is the caller's to correct.
    present: (request) => request.reasoning_effort === "none",
    without: ({ reasoning_effort: _, ...rest }) => rest,
  },
  {
    named: /parallel_tool_calls/,
    present: (request) => request.parallel_tool_calls !== undefined,
    without: ({ parallel_tool_calls: _, ...rest }) => rest,
  },
  {
    // The answer's shape is also asked for in words.
    named: /response_format/,
    present: (request) => request.response_format !== undefined,
    without: ({ response_format: _, ...rest }) => rest,
  },
  {
    // Newer models of some vendors know the limit by its new name only.
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

function hasReasoning(message: WireMessage): boolean {
  return message.role === "assistant" && message.reasoning_content !== undefined;
}

function withoutReasoning(message: WireMessage): WireMessage {
  if (message.role !== "assistant") return message;
  const { reasoning_content: _, ...rest } = message;
  return rest;
}
