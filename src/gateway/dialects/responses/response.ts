import type { FinishReason, Usage } from "../../../core/conversation/events.ts";
import type { GatewayError } from "../../../core/errors/gateway-error.ts";
import type { AnswerInfo } from "../../generation/generation-job.ts";
import type { OutputItem } from "./output.ts";
import type { ResponsesRequest } from "./request.ts";
import { buildRequestFields } from "./request-fields.ts";
import { toResponseUsage } from "./usage.ts";

/** State of a response. */
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

/** Returns the `status` of a response with this finish reason. */
export function toResponseStatus(reason: FinishReason): "completed" | "incomplete" {
  return reason === "length" || reason === "content_filter" ? "incomplete" : "completed";
}

/** Undocumented error codes that the real service returns and that clients handle. */
const PASSED_ERROR_CODES: ReadonlySet<string> = new Set(["context_length_exceeded"]);

/** Builds `error` of a failed response: a code that typed clients know, and the gateway's own code. */
function toErrorFields({ code, message, status }: GatewayError): Record<string, string> {
  const published = PASSED_ERROR_CODES.has(code)
    ? code
    : status === 429
      ? "rate_limit_exceeded"
      : status === 400
        ? "invalid_prompt"
        : "server_error";
  return { code: published, message, gateway_code: code };
}

function toStateFields(state: ResponseState): Record<string, unknown> {
  const emptyFields = { completed_at: null, error: null, incomplete_details: null, usage: null };
  if (state.status === "in_progress") return { ...emptyFields, status: state.status };
  if (state.status === "failed") {
    return { ...emptyFields, status: state.status, error: toErrorFields(state.error) };
  }
  const { reason, usage, completedAt } = state;
  const status = toResponseStatus(reason);
  return {
    ...emptyFields,
    status,
    completed_at: status === "completed" ? completedAt : null,
    incomplete_details:
      status === "completed" ? null : { reason: reason === "length" ? "max_output_tokens" : reason },
    usage: toResponseUsage(usage),
  };
}

/** Builds the response object of one request, in any of its states. */
export class ResponseObjectBuilder {
  readonly id: string;
  readonly #created: number;
  readonly #request: Record<string, unknown>;

  constructor(id: string, body: ResponsesRequest, info: AnswerInfo) {
    this.id = id;
    this.#created = info.created;
    this.#request = buildRequestFields(body, info);
  }

  /** Builds the object for one state. */
  build(state: ResponseState, output: readonly OutputItem[]): Record<string, unknown> {
    return {
      id: this.id,
      object: "response",
      created_at: this.#created,
      background: false,
      ...toStateFields(state),
      output,
      ...this.#request,
    };
  }
}
