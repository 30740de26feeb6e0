import type { FinishReason, Usage } from "../../conversation/events.ts";
import { isObject } from "../../encoding/json.ts";
import type { GatewayError } from "../../errors/gateway-error.ts";
import type { AnswerInfo } from "../../generation/job.ts";
import type { OutputItem } from "./output.ts";
import type { ResponsesRequest } from "./request.ts";
import { responseUsage } from "./usage.ts";

/** How far a response has come. */
export type ResponseState =
  | { readonly status: "in_progress" }
  | {
      readonly status: "ended";
      readonly reason: FinishReason;
      readonly usage: Usage;
      /** Unix seconds. */
      readonly completedAt: number;
    }
  | { readonly status: "failed"; readonly error: GatewayError };

/** The `status` of a response that ended for this reason. */
export function statusOf(reason: FinishReason): "completed" | "incomplete" {
  return reason === "length" || reason === "content_filter" ? "incomplete" : "completed";
}

function stateFields(state: ResponseState): Record<string, unknown> {
  const none = { completed_at: null, error: null, incomplete_details: null, usage: null };
  if (state.status === "in_progress") return { ...none, status: state.status };
  if (state.status === "failed") {
    const { code, message } = state.error;
    return { ...none, status: state.status, error: { code, message } };
  }
  const { reason, usage, completedAt } = state;
  const status = statusOf(reason);
  return {
    ...none,
    status,
    completed_at: status === "completed" ? completedAt : null,
    incomplete_details:
      status === "completed" ? null : { reason: reason === "length" ? "max_output_tokens" : reason },
    usage: responseUsage(usage),
  };
}

/** What a response repeats of its request, in the full public shape of the real API. */
function requestFields(body: ResponsesRequest, info: AnswerInfo): Record<string, unknown> {
  const { conversation } = info;
  const { reasoning, text } = body;
  const { temperature, topP, maxTokens, reasoningEffort } = conversation.sampling;
  return {
    instructions: body.instructions ?? null,
    max_output_tokens: maxTokens ?? null,
    max_tool_calls: body["max_tool_calls"] ?? null,
    model: conversation.model.id,
    parallel_tool_calls: conversation.parallelToolCalls,
    previous_response_id: body.previous_response_id ?? null,
    prompt_cache_key: body["prompt_cache_key"] ?? null,
    reasoning: {
      effort: reasoningEffort ?? null,
      summary: (isObject(reasoning) ? reasoning["summary"] : null) ?? null,
    },
    safety_identifier: body["safety_identifier"] ?? null,
    service_tier: "default",
    store: body.store ?? true,
    temperature: temperature ?? null,
    text: { ...text, format: text?.format ?? { type: "text" } },
    tool_choice: body.tool_choice ?? "auto",
    tools: body.tools ?? [],
    top_logprobs: 0,
    top_p: topP ?? null,
    truncation: body["truncation"] ?? "disabled",
    user: body["user"] ?? null,
    metadata: body.metadata ?? {},
  };
}

/** Writes the response object of one request in all its states. */
export class ResponseObject {
  readonly id: string;
  readonly #created: number;
  readonly #request: Record<string, unknown>;

  constructor(id: string, body: ResponsesRequest, info: AnswerInfo) {
    this.id = id;
    this.#created = info.created;
    this.#request = requestFields(body, info);
  }

  /** The object in one state. */
  in(state: ResponseState, output: readonly OutputItem[]): Record<string, unknown> {
    return {
      id: this.id,
      object: "response",
      created_at: this.#created,
      background: false,
      ...stateFields(state),
      output,
      ...this.#request,
    };
  }
}
