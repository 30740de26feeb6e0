import type { GatewayError, RouteFamily } from "../errors/gateway-error.ts";

/** `error.type` in the chat-completions and responses styles. */
function chatErrorType(status: number): string {
  if (status === 401) return "authentication_error";
  if (status === 403) return "permission_error";
  if (status === 429) return "rate_limit_error";
  if (status === 501) return "not_implemented_error";
  if (status === 503) return "service_unavailable_error";
  return status >= 500 ? "server_error" : "invalid_request_error";
}

/** `error.type` in the message style. */
function messageErrorType(status: number): string {
  if (status === 401) return "authentication_error";
  if (status === 403) return "permission_error";
  if (status === 404) return "not_found_error";
  if (status === 413) return "request_too_large";
  if (status === 429) return "rate_limit_error";
  if (status === 503) return "overloaded_error";
  return status >= 500 ? "api_error" : "invalid_request_error";
}

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

/** `{message, type, code, param}`: the error object that most families share (contract, Errors). */
export function errorObject(
  error: GatewayError,
  type = chatErrorType(error.status),
): Record<string, unknown> {
  const body: Record<string, unknown> = {
    message: error.message,
    type,
    code: error.code,
    param: error.param,
  };
  if (error.details !== undefined) body["details"] = error.details;
  return body;
}

const formats: Readonly<Record<RouteFamily, (error: GatewayError) => unknown>> = {
  chat: (error) => ({ error: errorObject(error) }),
  // The top-level `type` is what the message-style SDKs recognise an error by.
  messages: (error) => ({ type: "error", error: errorObject(error, messageErrorType(error.status)) }),
  content: (error) => ({
    error: { code: error.status, message: error.message, status: rpcStatus(error.status) },
  }),
  runner: (error) => ({ error: error.message }),
  admin: (error) => ({ detail: error.message }),
  page: (error) => ({ error: errorObject(error) }),
};

/** The JSON body of an error in the shape of its route family (contract, Errors). */
export function formatError(family: RouteFamily, error: GatewayError): unknown {
  return formats[family](error);
}

/** The whole HTTP response of an error. 429 never carries `Retry-After` unless the error itself says so. */
export function errorResponse(family: RouteFamily, error: GatewayError): Response {
  return new Response(JSON.stringify(formatError(family, error)), {
    status: error.status,
    headers: { "content-type": "application/json", ...error.headers },
  });
}
