import type { JsonObject } from "../encoding/json.ts";
import type { GatewayError } from "../errors/gateway-error.ts";
import type { RouteFamily } from "./surface.ts";

/** `error.type` in the standard shape. */
function standardType(status: number): string {
  if (status === 401) return "authentication_error";
  if (status === 403) return "permission_error";
  if (status === 429) return "rate_limit_error";
  if (status === 501) return "not_implemented_error";
  if (status === 503) return "service_unavailable_error";
  return status >= 500 ? "server_error" : "invalid_request_error";
}

/** The upstream's own word for it, where it is one of this kind. */
function typeOf({ status, code, upstream: { type } }: GatewayError): string {
  if (code === "insufficient_quota") return code;
  return type !== undefined && /^[a-z_]+_error$/.test(type) ? type : standardType(status);
}

/** `{message, type, code, param}`: the error object that most families share (contract, Errors). */
export function errorObject(error: GatewayError, type = typeOf(error)): Record<string, unknown> {
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

/** JSON schema of what {@link errorObject} makes. */
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

/** JSON schema of an object that has these members, and no others. */
export function objectSchema(properties: JsonObject): JsonObject {
  return { type: "object", properties, required: Object.keys(properties), additionalProperties: false };
}

/** A family whose errors have the standard shape: `{error: {message, type, code, param}}` (contract, Errors). */
export function standardFamily(id: string): RouteFamily {
  return {
    id,
    formatError: (error) => ({ error: errorObject(error) }),
    errorSchema: objectSchema({ error: ERROR_OBJECT_SCHEMA }),
  };
}

/** The chat-completions and responses styles, and everything that no other family claims. */
export const STANDARD_FAMILY: RouteFamily = standardFamily("chat");

/** The whole HTTP response of an error. 429 never carries `Retry-After` unless the error itself says so. */
export function errorResponse(family: RouteFamily, error: GatewayError, requestId?: string): Response {
  return new Response(JSON.stringify(family.formatError(error, requestId)), {
    status: error.status,
    headers: { "content-type": "application/json", ...error.headers },
  });
}
