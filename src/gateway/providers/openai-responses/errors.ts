import type { JsonObject } from "../../../core/encoding/json.ts";
import { isObject } from "../../../core/encoding/json.ts";
import type { ProviderError } from "../../../core/errors/provider-error.ts";
import { type ErrorKinds, toProviderError } from "../errors/error-response.ts";

/** Error codes that only this protocol has. */
const CODES = [
  ["invalid_prompt", "content_filter"],
  ["bio_policy", "content_filter"],
  ["cyber_policy", "content_filter"],
  ["misalignment_policy_violation", "content_filter"],
  ["image_content_policy_violation", "content_filter"],
  ["invalid_image", "invalid_request"],
  ["invalid_image_format", "invalid_request"],
  ["invalid_base64_image", "invalid_request"],
  ["invalid_image_url", "invalid_request"],
  ["invalid_image_mode", "invalid_request"],
  ["image_parse_error", "invalid_request"],
  ["image_too_small", "invalid_request"],
  ["image_too_large", "invalid_request"],
  ["image_file_too_large", "invalid_request"],
  ["empty_image_file", "invalid_request"],
  ["unsupported_image_media_type", "invalid_request"],
  ["server_is_overloaded", "model_unavailable"],
  ["slow_down", "model_unavailable"],
] as const;

/**
 * Classifies error responses. A 404 means that the model or the whole API is missing, not a resource that the caller
 * named by id.
 */
export const ERROR_KINDS: ErrorKinds = { codes: new Map(CODES), statuses: { 404: "model_unavailable" } };

/** Classifies errors within a stream. They have no HTTP status, so their type decides. */
const STREAM_ERROR_KINDS: ErrorKinds = {
  codes: new Map([
    ...CODES,
    ["invalid_request_error", "invalid_request"] as const,
    ["rate_limit_error", "rate_limited"] as const,
    ["too_many_requests", "rate_limited"] as const,
    ["overloaded_error", "model_unavailable"] as const,
    ["authentication_error", "token_expired"] as const,
  ]),
};

/** Reads the failure from a response's `error`, or from an event that has the error's fields or wraps the error. */
export function readFailure(record: JsonObject, secret: string): ProviderError {
  const { error, code, message, param } = record;
  const errorRecord = isObject(error) ? error : { code, message, param };
  return toProviderError({ error: errorRecord }, 0, secret, STREAM_ERROR_KINDS);
}
