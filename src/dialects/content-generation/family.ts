import { objectSchema } from "../../routing/error-formats.ts";
import type { RouteFamily } from "../../routing/surface.ts";

/** The `google.rpc.Code` name that goes with an HTTP status. */
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

/** The content-generation style. */
export const CONTENT_FAMILY: RouteFamily = {
  id: "content",
  formatError: (error) => ({
    error: { code: error.status, message: error.message, status: rpcStatus(error.status) },
  }),
  errorSchema: objectSchema({
    error: objectSchema({
      code: { type: "integer" },
      message: { type: "string" },
      status: { type: "string" },
    }),
  }),
};
