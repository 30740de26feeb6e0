import type { PageUrlRefusalCode } from "../url-safety/index.ts";

/** Every machine-readable error code of the API. */
export type ErrorCode =
  | "invalid json"
  | "invalid_request"
  | "invalid_api_key"
  | "account_login_failed"
  | "permission_denied"
  | "not_found"
  | "method_not_allowed"
  | "model_not_found"
  | "response_not_found"
  | "delivery_failed"
  | "previous_response_not_found"
  | "websocket_connection_limit_reached"
  | "file_not_found"
  | "request_too_large"
  | "tool_choice_violation"
  | "concurrency_limit_exceeded"
  | "target_account_not_found"
  | "rate_limit_exceeded"
  | "insufficient_quota"
  | "account_pool_unavailable"
  | "upstream_empty_output"
  | "upstream_error"
  | "upstream_unavailable"
  | "upstream_timeout"
  | "request_timeout"
  | "upstream_rate_limited"
  | "model_unavailable"
  | "content_filter"
  | "context_length_exceeded"
  | "embeddings_not_configured"
  | "unsupported"
  | "thread_unsupported"
  | "internal_error"
  | PageUrlRefusalCode
  | "selector_not_found"
  | "forbidden_url"
  | "page_dns_failed"
  | "page_tls_failed"
  | "page_unreachable"
  | "page_redirect_loop"
  | "page_not_renderable"
  | "page_crashed"
  | "page_timeout"
  | "page_too_large"
  | "page_failed"
  | "browser_unavailable"
  | "overloaded"
  | "signature_invalid"
  | "link_expired"
  | "job_not_found"
  | "job_not_finished"
  | "job_cancelled"
  | "job_interrupted"
  | "job_limit_exceeded"
  | "request_cancelled";

/** The upstream's own error details for a caller's mistake: short names, without secrets. */
export interface UpstreamFault {
  readonly code?: string;
  readonly type?: string;
  readonly param?: string;
}

/** What a {@link GatewayError} carries besides its status and message. */
export interface GatewayErrorOptions {
  readonly code: ErrorCode;
  /** The request field at fault, or null. */
  readonly param?: string | null;
  /** Response headers that belong to the error (for example `Allow`). */
  readonly headers?: Readonly<Record<string, string>>;
  /** Extra members of the error object, for clients that read them. */
  readonly details?: Readonly<Record<string, unknown>>;
  /** The upstream's own error details, if they help the caller. */
  readonly upstream?: UpstreamFault;
  /** The caller speaks the upstream's protocol: message, code, type and field are the upstream's own. */
  readonly isVerbatim?: true;
  /** The internal cause; only its name is logged, and it is never shown. */
  readonly cause?: unknown;
}

/**
 * The program's error type: an HTTP status, a stable code, a human-readable message and the field at fault. Any code may
 * throw it. The route family's formatter renders it in one place, also in mid-stream.
 */
export class GatewayError extends Error {
  override readonly name = "GatewayError";
  readonly status: number;
  readonly code: ErrorCode;
  readonly param: string | null;
  readonly headers: Readonly<Record<string, string>>;
  readonly details: Readonly<Record<string, unknown>> | undefined;
  readonly upstream: UpstreamFault;
  /** See {@link GatewayErrorOptions.isVerbatim}. */
  readonly isVerbatim: boolean;

  constructor(status: number, message: string, options: GatewayErrorOptions) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.status = status;
    this.code = options.code;
    this.param = options.param ?? null;
    this.headers = options.headers ?? {};
    this.details = options.details;
    this.upstream = options.upstream ?? {};
    this.isVerbatim = options.isVerbatim === true;
  }

  /** After how many seconds the provider accepts a retry; undefined: it does not say. */
  get retryAfterSeconds(): number | undefined {
    const seconds = this.details?.["retry_after_seconds"];
    return typeof seconds === "number" ? seconds : undefined;
  }
}

/** Creates a 400 error that names the field at fault. */
export function invalidRequest(message: string, param: string | null = null): GatewayError {
  return new GatewayError(400, message, { code: "invalid_request", param });
}

/** Creates the 401 error of a missing or wrong credential. */
export function unauthorized(message: string): GatewayError {
  return new GatewayError(401, message, { code: "invalid_api_key" });
}

/**
 * Creates a 503 error for an upstream that failed or sent an invalid answer
 * (docs/contract/errors.md, docs/contract/decisions.md).
 */
export function upstreamFailure(
  message: string,
  code: ErrorCode = "upstream_error",
  cause?: unknown,
): GatewayError {
  return new GatewayError(503, message, { code, cause });
}

/**
 * Converts any thrown value to a {@link GatewayError}. An unknown value becomes a 500 that contains only the request id.
 */
export function toGatewayError(error: unknown, requestId: string): GatewayError {
  if (error instanceof GatewayError) return error;
  return new GatewayError(500, `internal error (request ${requestId})`, {
    code: "internal_error",
    cause: error,
  });
}
