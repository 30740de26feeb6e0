import {
  type ErrorCode,
  GatewayError,
  toGatewayError,
  type UpstreamFault,
  upstreamFailure,
} from "./gateway-error.ts";

/** The kinds of upstream failures: error codes of the protocol, and failures of the transport. */
export const PROVIDER_ERROR_KINDS = [
  "invalid_credentials",
  "token_expired",
  "account_suspended",
  "rate_limited",
  "not_found",
  "too_large",
  "model_unavailable",
  "invalid_request",
  "context_length",
  "content_filter",
  "server_error",
  "unreachable",
  "malformed",
  "cut",
  "timeout",
] as const;

export type ProviderErrorKind = (typeof PROVIDER_ERROR_KINDS)[number];

/** What is known of a failure besides its kind. */
export interface ProviderErrorDetails {
  /** The upstream's HTTP status, 0 when there was none. */
  readonly status?: number;
  readonly cause?: unknown;
  /** After how many seconds the upstream accepts a retry; null: it does not say. */
  readonly retryAfter?: number | null;
  /** The upstream's own error details. */
  readonly upstreamFault?: UpstreamFault;
  /** Whether the message, code, type and field are the upstream's own, for a caller that speaks its protocol. */
  readonly isVerbatim?: boolean;
  /** Whether the upstream stated the failure as an error event of its answer, or as an error object in it. */
  readonly isErrorEvent?: boolean | undefined;
  /**
   * The upstream's own words where `message` is a fixed text; for administrators only.
   * Empty: `message` has them, or there are none.
   */
  readonly upstreamWords?: string | undefined;
}

/** A failure of the provider, classified by kind. The message is for logs and callers and contains no secret. */
export class ProviderError extends Error implements ProviderErrorDetails {
  override readonly name = "ProviderError";
  readonly kind: ProviderErrorKind;
  readonly status: number;
  readonly retryAfter: number | null;
  readonly upstreamFault: UpstreamFault;
  readonly isVerbatim: boolean;
  readonly isErrorEvent: boolean;
  readonly upstreamWords: string;

  constructor(kind: ProviderErrorKind, message: string, details: ProviderErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.kind = kind;
    this.status = details.status ?? 0;
    this.retryAfter = details.retryAfter ?? null;
    this.upstreamFault = details.upstreamFault ?? {};
    this.isVerbatim = details.isVerbatim ?? false;
    this.isErrorEvent = details.isErrorEvent ?? false;
    this.upstreamWords = details.upstreamWords ?? "";
  }
}

/** The gateway's code of a rejection that is about the request. */
const REFUSAL_CODES: Partial<Record<ProviderErrorKind, ErrorCode>> = {
  invalid_request: "invalid_request",
  context_length: "context_length_exceeded",
  content_filter: "content_filter",
  not_found: "not_found",
  model_unavailable: "model_not_found",
  too_large: "request_too_large",
};

/**
 * A rejection of the request with the provider's own status, message, code, type and field.
 * Null: it is no such rejection.
 */
function toVerbatimRejection(error: ProviderError): GatewayError | null {
  const { kind, message, status, upstreamFault } = error;
  const code = REFUSAL_CODES[kind];
  if (code === undefined || status < 400 || status > 499) return null;
  return new GatewayError(status, message, { code, cause: error, upstream: upstreamFault, isVerbatim: true });
}

/** Converts a provider's failure to the caller's error (docs/contract/errors.md, docs/contract/decisions.md). */
export function providerErrorToGateway(error: ProviderError): GatewayError {
  const { kind, message, upstreamFault } = error;
  if (error.isVerbatim) {
    const rejection = toVerbatimRejection(error);
    if (rejection !== null) return rejection;
  }
  // For errors that exist at every provider, the gateway's own code is used.
  const { code: _, ...withoutCode } = upstreamFault;
  switch (kind) {
    case "invalid_credentials":
      return new GatewayError(401, message, { code: "account_login_failed", cause: error });
    case "token_expired":
      return new GatewayError(401, message, { code: "invalid_api_key", cause: error });
    case "account_suspended":
      return upstreamFailure(message, "upstream_unavailable", error);
    case "rate_limited": {
      // In the body, because the contract forbids the header.
      const { retryAfter } = error;
      const details =
        retryAfter === null
          ? {}
          : {
              details: { retry_after_seconds: retryAfter },
              headers: { "retry-after-ms": String(retryAfter * 1000) },
            };
      return new GatewayError(429, message, { code: "upstream_rate_limited", cause: error, ...details });
    }
    case "not_found":
      return new GatewayError(404, message, { code: "not_found", cause: error, upstream: upstreamFault });
    case "too_large":
      return new GatewayError(413, message, {
        code: "request_too_large",
        cause: error,
        upstream: upstreamFault,
      });
    case "invalid_request":
      return new GatewayError(400, message, {
        code: "invalid_request",
        cause: error,
        upstream: upstreamFault,
      });
    case "context_length":
      return new GatewayError(400, message, {
        code: "context_length_exceeded",
        cause: error,
        upstream: withoutCode,
      });
    case "content_filter":
      return new GatewayError(400, message, { code: "content_filter", cause: error, upstream: withoutCode });
    case "model_unavailable":
      return upstreamFailure(message, "model_unavailable", error);
    case "unreachable":
      return upstreamFailure(message, "upstream_unavailable", error);
    case "timeout":
      return upstreamFailure(message, "upstream_timeout", error);
    case "server_error":
    case "malformed":
    case "cut":
      return upstreamFailure(message, "upstream_error", error);
  }
}

/** Converts any failure to the caller's error. */
export function toCallerError(thrown: unknown, requestId: string): GatewayError {
  return toGatewayError(thrown instanceof ProviderError ? providerErrorToGateway(thrown) : thrown, requestId);
}
