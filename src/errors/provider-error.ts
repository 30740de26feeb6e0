import { GatewayError, type UpstreamFault, upstreamFailure } from "./gateway-error.ts";

/** What can go wrong upstream: the protocol's own codes, and the ways in which a transport fails. */
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

/** A failure of the provider, told apart by kind. The message is for logs and callers and holds no secret. */
export class ProviderError extends Error {
  override readonly name = "ProviderError";
  readonly kind: ProviderErrorKind;
  /** The upstream's HTTP status, 0 when there was none. */
  readonly status: number;
  /** After how many seconds the upstream wants to be asked again; null: it does not say. */
  readonly retryAfter: number | null;
  /** What the upstream calls it. */
  readonly said: UpstreamFault;

  constructor(
    kind: ProviderErrorKind,
    message: string,
    status = 0,
    cause?: unknown,
    retryAfter: number | null = null,
    said: UpstreamFault = {},
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.kind = kind;
    this.status = status;
    this.retryAfter = retryAfter;
    this.said = said;
  }
}

/** What the caller is told of a provider's failure (contract, Errors and Decisions). */
export function providerErrorToGateway(error: ProviderError): GatewayError {
  const { kind, message, said } = error;
  // Codes that mean the same everywhere are the gateway's own.
  const { code: _, ...place } = said;
  switch (kind) {
    case "invalid_credentials":
      return new GatewayError(401, message, { code: "account_login_failed", cause: error });
    case "token_expired":
      return new GatewayError(401, message, { code: "invalid_api_key", cause: error });
    case "account_suspended":
      return upstreamFailure(message, "upstream_unavailable", error);
    case "rate_limited": {
      // As a part of the body: the contract bans the header.
      const { retryAfter } = error;
      const details = retryAfter === null ? {} : { details: { retry_after_seconds: retryAfter } };
      return new GatewayError(429, message, { code: "upstream_rate_limited", cause: error, ...details });
    }
    case "not_found":
      return new GatewayError(404, message, { code: "not_found", cause: error, upstream: said });
    case "too_large":
      return new GatewayError(413, message, { code: "request_too_large", cause: error, upstream: said });
    case "invalid_request":
      return new GatewayError(400, message, { code: "invalid_request", cause: error, upstream: said });
    case "context_length":
      return new GatewayError(400, message, {
        code: "context_length_exceeded",
        cause: error,
        upstream: place,
      });
    case "content_filter":
      return new GatewayError(400, message, { code: "content_filter", cause: error, upstream: place });
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
