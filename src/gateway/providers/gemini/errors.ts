import { isObject, type JsonObject } from "../../../core/encoding/json.ts";
import type { ErrorKinds } from "../errors/error-response.ts";

/** Kinds by the name of a status, and by a `reason`, which is more specific. */
const CODES = [
  ["API_KEY_INVALID", "token_expired"],
  ["API_KEY_EXPIRED", "token_expired"],
  ["UNAUTHENTICATED", "token_expired"],
  ["PERMISSION_DENIED", "account_suspended"],
  // The place from which the key is used, or its billing, is the cause: every other request would fail, too.
  ["FAILED_PRECONDITION", "account_suspended"],
  ["RESOURCE_EXHAUSTED", "rate_limited"],
  ["UNAVAILABLE", "model_unavailable"],
  // The model or the whole API is missing, not a resource that the caller named by id.
  ["NOT_FOUND", "model_unavailable"],
  ["INVALID_ARGUMENT", "invalid_request"],
  ["OUT_OF_RANGE", "invalid_request"],
  ["DEADLINE_EXCEEDED", "timeout"],
  ["CANCELLED", "server_error"],
  ["ABORTED", "server_error"],
  ["INTERNAL", "server_error"],
  ["UNKNOWN", "server_error"],
] as const;

const KIND_BY_CODE = new Map<string, (typeof CODES)[number][1]>(CODES);

/** Classifies error responses, and errors within a stream. */
export const ERROR_KINDS: ErrorKinds = {
  codes: KIND_BY_CODE,
  statuses: { 404: "model_unavailable" },
  read: toStandardError,
};

/**
 * Converts `{error: {code: 400, status, message, details}}` for `toProviderError`: `code` becomes the most specific name,
 * `type` the name of the status, `param` the field at fault.
 */
function toStandardError(body: JsonObject): JsonObject {
  const { error } = body;
  if (!isObject(error)) return body;
  const { status, message } = error;
  const details = readDetails(error);
  const reason = details.map((detail) => detail["reason"]).find((name) => KIND_BY_CODE.has(String(name)));
  const violations = details.flatMap(({ fieldViolations: entries }) =>
    Array.isArray(entries) ? entries : [],
  );
  const param = violations
    .filter(isObject)
    .map(({ field }) => field)
    .find((name) => typeof name === "string");
  return { error: { code: reason ?? status ?? error["code"], type: status, message, param } };
}

function readDetails({ details }: JsonObject): JsonObject[] {
  return Array.isArray(details) ? details.filter(isObject) : [];
}
