import type { GatewayError } from "../../errors/gateway-error.ts";
import { objectSchema } from "../../routing/error-formats.ts";
import type { RouteFamily } from "../../routing/surface.ts";

/** Returns the name of the `google.rpc.Code` for an HTTP status. */
function rpcStatus(status: number): string {
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
function detailsOf(error: GatewayError): { details?: readonly object[] } {
  const { code, message, upstream, retryAfterSeconds: seconds } = error;
  const told: object[] = [];
  const reason = code === "context_length_exceeded" ? code : upstream.code;
  if (reason !== undefined) {
    const written = reason.replace(/\W+/g, "_").toUpperCase();
    told.push({ "@type": `${TYPES}ErrorInfo`, reason: written, domain: "gateway" });
  }
  if (upstream.param !== undefined) {
    const fieldViolations = [{ field: upstream.param, description: message }];
    told.push({ "@type": `${TYPES}BadRequest`, fieldViolations });
  }
  if (seconds !== undefined) told.push({ "@type": `${TYPES}RetryInfo`, retryDelay: `${seconds}s` });
  return told.length === 0 ? {} : { details: told };
}

const TYPES = "type.googleapis.com/google.rpc.";

/** The content-generation style. */
export const CONTENT_FAMILY: RouteFamily = {
  id: "content",
  formatError: (error) => ({
    error: {
      code: error.status,
      message: error.message,
      status: rpcStatus(error.status),
      ...detailsOf(error),
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
