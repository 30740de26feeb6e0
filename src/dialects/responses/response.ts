import type { FinishReason, Usage } from "../../conversation/events.ts";
import type { GatewayError } from "../../errors/gateway-error.ts";
import type { AnswerInfo } from "../../generation/job.ts";
import { requestFields } from "./echo.ts";
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

/** Codes besides those that are published which the real service gives, and which clients act on. */
const KNOWN_CODES: ReadonlySet<string> = new Set(["context_length_exceeded"]);

/** `error` of a failed response: a code that typed clients know, and beside it the gateway's own. */
function errorFields({ code, message, status }: GatewayError): Record<string, string> {
  const published = KNOWN_CODES.has(code)
    ? code
    : status === 429
      ? "rate_limit_exceeded"
      : status === 400
        ? "invalid_prompt"
        : "server_error";
  return { code: published, message, gateway_code: code };
}

function stateFields(state: ResponseState): Record<string, unknown> {
  const none = { completed_at: null, error: null, incomplete_details: null, usage: null };
  if (state.status === "in_progress") return { ...none, status: state.status };
  if (state.status === "failed") {
    return { ...none, status: state.status, error: errorFields(state.error) };
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
