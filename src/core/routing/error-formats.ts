import type { JsonObject } from "../encoding/json.ts";
import type { GatewayError } from "../errors/gateway-error.ts";
import type { RouteFamily } from "./route-group.ts";

/** `error.type` of a status in the standard shape. */
function standardType(status: number): string {
  if (status === 401) return "authentication_error";
  if (status === 403) return "permission_error";
  if (status === 429) return "rate_limit_error";
  if (status === 501) return "not_implemented_error";
  if (status === 503) return "service_unavailable_error";
  return status >= 500 ? "server_error" : "invalid_request_error";
}

/** Prefers the upstream's error type if it has the standard form, or if the caller speaks the upstream's protocol. */
function getErrorType({ status, code, isVerbatim, upstream: { type } }: GatewayError): string {
  if (code === "insufficient_quota") return code;
  const isUsable = type !== undefined && (isVerbatim || /^[a-z_]+_error$/.test(type));
  return isUsable ? type : standardType(status);
}

/** `{message, type, code, param}`: the error object that most families share (docs/contract/errors.md). */
export function errorObject(error: GatewayError, type = getErrorType(error)): Record<string, unknown> {
  const { code, param } = error.upstream;
  const body: Record<string, unknown> = {
    message: error.message,
    type,
    code: code ?? error.code,
    param: error.param ?? param ?? null,
  };
  if (error.details !== undefined) body["details"] = error.details;
  return body;
}

/** JSON schema of the result of {@link errorObject}. */
export const ERROR_OBJECT_SCHEMA: JsonObject = {
  type: "object",
  properties: {
    message: { type: "string" },
    type: { type: "string" },
    code: { type: "string" },
    param: { type: ["string", "null"] },
    details: { type: "object" },
  },
  required: ["message", "type", "code", "param"],
  additionalProperties: false,
};

/** JSON schema of an object with exactly these members, all required. */
export function objectSchema(properties: JsonObject): JsonObject {
  return { type: "object", properties, required: Object.keys(properties), additionalProperties: false };
}

/** A family whose errors have the standard shape: `{error: {message, type, code, param}}` (docs/contract/errors.md). */
export function createStandardFamily(id: string): RouteFamily {
  return {
    id,
    formatError: (error) => ({ error: errorObject(error) }),
    errorSchema: objectSchema({ error: ERROR_OBJECT_SCHEMA }),
  };
}

/** The family of the chat-completions and responses styles, and the default for all other paths. */
export const STANDARD_FAMILY: RouteFamily = createStandardFamily("chat");

/** Formats an error as an HTTP response. 429 has `Retry-After` only if the error sets it. */
export function errorResponse(family: RouteFamily, error: GatewayError, requestId?: string): Response {
  return new Response(JSON.stringify(family.formatError(error, requestId)), {
    status: error.status,
    headers: { "content-type": "application/json", ...error.headers },
  });
}
