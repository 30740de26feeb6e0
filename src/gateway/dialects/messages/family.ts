import type { GatewayError } from "../../../core/errors/gateway-error.ts";
import { ERROR_OBJECT_SCHEMA, errorObject, objectSchema } from "../../../core/routing/error-formats.ts";
import type { RouteFamily } from "../../../core/routing/route-group.ts";
import { toMessageLimitHeaders } from "./limit-headers.ts";

/** Maps an HTTP status to `error.type` of the message style. */
function toMessageErrorType({ status, isVerbatim, upstream: { type } }: GatewayError): string {
  if (isVerbatim && type !== undefined) return type;
  if (status === 401) return "authentication_error";
  if (status === 403) return "permission_error";
  if (status === 404) return "not_found_error";
  if (status === 413) return "request_too_large";
  if (status === 429) return "rate_limit_error";
  if (status === 503) return "overloaded_error";
  if (status === 504) return "timeout_error";
  return status >= 500 ? "api_error" : "invalid_request_error";
}

/**
 * Agents shorten their conversation when they read these words, because the style's own service has no error code for it.
 */
function formatMessage({ code, message, isVerbatim }: GatewayError): string {
  if (code !== "context_length_exceeded" || isVerbatim || /prompt is too long/i.test(message)) return message;
  return `prompt is too long: ${message}`;
}

/** Route family of the message style. SDKs recognize its errors by the top-level `type`. */
export const MESSAGE_FAMILY: RouteFamily = {
  id: "messages",
  requestIdHeader: "request-id",
  limitHeaders: toMessageLimitHeaders,
  formatError: (error, requestId) => ({
    type: "error",
    error: { ...errorObject(error, toMessageErrorType(error)), message: formatMessage(error) },
    request_id: requestId ?? null,
  }),
  errorSchema: objectSchema({
    type: { const: "error" },
    error: ERROR_OBJECT_SCHEMA,
    request_id: { type: ["string", "null"] },
  }),
};
