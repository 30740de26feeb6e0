import type { ErrorKinds } from "../refusal.ts";

/** `error.type` of a refusal. Who is overloaded is the model's backend, not the account. */
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
 * What a refusal means. What is not found is the model (or the whole API): nothing that the caller asked for by address.
 * `invalid_request_error` is left to the status: compatible servers say it of a wrong key, too.
 */
export const REFUSALS: ErrorKinds = {
  codes: new Map(CODES),
  statuses: { 404: "model_unavailable", 529: "model_unavailable" },
};

/** The same for an error within a stream, which has no status. */
export const STREAM_ERRORS: ErrorKinds = {
  codes: new Map([...CODES, ["invalid_request_error", "invalid_request"] as const]),
};
