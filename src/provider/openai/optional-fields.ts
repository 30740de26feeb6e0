import type { WireMessage, WireRequest } from "./wire.ts";

/** A field that goes beyond what every backend knows, and the request without it. */
interface OptionalField {
  /** The word by which a backend's refusal names it. */
  readonly word: string;
  readonly present: (request: WireRequest) => boolean;
  readonly without: (request: WireRequest) => WireRequest;
}

const FIELDS: readonly OptionalField[] = [
  {
    word: "stream_options",
    present: (request) => request.stream_options !== undefined,
    without: ({ stream_options: _, ...rest }) => rest,
  },
  {
    word: "chat_template_kwargs",
    present: (request) => request.chat_template_kwargs !== undefined,
    without: ({ chat_template_kwargs: _, ...rest }) => rest,
  },
  {
    word: "reasoning_effort",
    // An effort that the caller asked for is the caller's to correct.
    present: (request) => request.reasoning_effort === "none",
    without: ({ reasoning_effort: _, ...rest }) => rest,
  },
  {
    word: "parallel_tool_calls",
    present: (request) => request.parallel_tool_calls !== undefined,
    without: ({ parallel_tool_calls: _, ...rest }) => rest,
  },
  {
    // The answer's shape is also asked for in words.
    word: "response_format",
    present: (request) => request.response_format !== undefined,
    without: ({ response_format: _, ...rest }) => rest,
  },
  {
    // Newer models of some vendors know the limit by its new name only.
    word: "max_completion_tokens",
    present: (request) => request.max_tokens !== undefined,
    without: ({ max_tokens: limit, ...rest }) =>
      limit === undefined ? rest : { ...rest, max_completion_tokens: limit },
  },
  {
    word: "reasoning_content",
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

/**
 * Remembers which optional fields a backend refuses. Backends differ in what they know: the engines that people run
 * themselves pass over a field that they do not know, hosted ones answer 400 and name it. So every field that helps some
 * backend is sent, and one that is refused by name is left out from then on.
 */
export class OptionalFields {
  readonly #refused = new Set<OptionalField>();

  /** The request without what the backend is known to refuse. */
  trim(request: WireRequest): WireRequest {
    return strip(request, [...this.#refused]);
  }

  /**
   * The request without the fields that a refusal names; null when it names none. `accepted` has to be called once
   * the backend has taken it: a refusal may mention a field for other reasons.
   */
  retry(request: WireRequest, refusal: string): { request: WireRequest; accepted: () => void } | null {
    const named = FIELDS.filter((field) => refusal.includes(field.word) && field.present(request));
    if (named.length === 0) return null;
    return {
      request: strip(request, named),
      accepted: () => {
        for (const field of named) this.#refused.add(field);
      },
    };
  }
}

function strip(request: WireRequest, fields: readonly OptionalField[]): WireRequest {
  return fields.reduce((rest, field) => (field.present(rest) ? field.without(rest) : rest), request);
}
