import type { ErrorKinds } from "../errors/error-response.ts";

/** Kinds by `error.type`. `overloaded_error` concerns the model's backend, not the account. */
const CODES = [
  ["authentication_error", "token_expired"],
  ["permission_error", "account_suspended"],
  ["billing_error", "account_suspended"],
  ["rate_limit_error", "rate_limited"],
  ["overloaded_error", "model_unavailable"],
  ["not_found_error", "model_unavailable"],
  ["request_too_large", "too_large"],
  ["timeout_error", "timeout"],
  ["api_error", "server_error"],
] as const;

/**
 * Classifies error responses. A 404 means that the model or the whole API is missing, not a resource that the caller
 * named by id. `invalid_request_error` has no entry, so that the status decides: compatible servers also send it for a
 * wrong key.
 */
export const ERROR_KINDS: ErrorKinds = {
  codes: new Map(CODES),
  statuses: { 404: "model_unavailable", 529: "model_unavailable" },
};

/** Classifies errors within a stream, which have no HTTP status. */
export const STREAM_ERROR_KINDS: ErrorKinds = {
  codes: new Map([...CODES, ["invalid_request_error", "invalid_request"] as const]),
};
