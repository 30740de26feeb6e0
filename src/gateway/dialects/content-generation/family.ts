import type { GatewayError } from "../../../core/errors/gateway-error.ts";
import { objectSchema } from "../../../core/routing/error-formats.ts";
import type { RouteFamily } from "../../../core/routing/route-group.ts";

/** Returns the name of the `google.rpc.Code`: the provider's own, or that of the HTTP status. */
function toRpcStatus({ status, isVerbatim, upstream: { type } }: GatewayError): string {
  if (isVerbatim && type !== undefined) return type;
  const names: Readonly<Record<number, string>> = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    405: "INVALID_ARGUMENT",
    413: "INVALID_ARGUMENT",
    422: "FAILED_PRECONDITION",
    429: "RESOURCE_EXHAUSTED",
    499: "CANCELLED",
    501: "UNIMPLEMENTED",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
  };
  return names[status] ?? (status >= 500 ? "INTERNAL" : "INVALID_ARGUMENT");
}

/** Builds `details` with the types of `google.rpc`: when to retry, and the reason if the status is too general. */
function toErrorDetails(error: GatewayError): { details?: readonly object[] } {
  const { code, message, upstream, retryAfterSeconds: seconds } = error;
  const entries: object[] = [];
  const reason = code === "context_length_exceeded" ? code : upstream.code;
  if (reason !== undefined) {
    const written = reason.replace(/\W+/g, "_").toUpperCase();
    entries.push({ "@type": `${RPC_TYPE_PREFIX}ErrorInfo`, reason: written, domain: "gateway" });
  }
  if (upstream.param !== undefined) {
    const fieldViolations = [{ field: upstream.param, description: message }];
    entries.push({ "@type": `${RPC_TYPE_PREFIX}BadRequest`, fieldViolations });
  }
  if (seconds !== undefined)
    entries.push({ "@type": `${RPC_TYPE_PREFIX}RetryInfo`, retryDelay: `${seconds}s` });
  return entries.length === 0 ? {} : { details: entries };
}

const RPC_TYPE_PREFIX = "type.googleapis.com/google.rpc.";

/** The content-generation style. */
export const CONTENT_FAMILY: RouteFamily = {
  id: "content",
  formatError: (error) => ({
    error: {
      code: error.status,
      message: error.message,
      status: toRpcStatus(error),
      ...toErrorDetails(error),
    },
  }),
  errorSchema: objectSchema({
    error: {
      type: "object",
      properties: {
        code: { type: "integer" },
        message: { type: "string" },
        status: { type: "string" },
        details: { type: "array", items: { type: "object" } },
      },
      required: ["code", "message", "status"],
      additionalProperties: false,
    },
  }),
};
