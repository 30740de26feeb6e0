import { invalidRequest } from "../../core/errors/gateway-error.ts";

/** Shortest and longest lifetime of a file record, in seconds. */
const MIN_LIFETIME_SECONDS = 3600;
export const MAX_LIFETIME_SECONDS = 30 * 86_400;

/** Returns the lifetime of a file record after the upload, in seconds: the requested one, or 30 days by default. */
export function parseLifetime(fields: ReadonlyMap<string, string>): number {
  return parseRequestedLifetime(fields) ?? MAX_LIFETIME_SECONDS;
}

/**
 * Returns the requested lifetime of a file, in seconds: `expires_after[seconds]` of the form, or `expires_in_seconds` in the
 * message style. Null: none.
 *
 * @throws GatewayError 400 for an invalid lifetime.
 */
export function parseRequestedLifetime(fields: ReadonlyMap<string, string>): number | null {
  const anchor = fields.get("expires_after[anchor]");
  if (anchor !== undefined && anchor !== "created_at") {
    throw invalidRequest("expires_after[anchor] must be created_at", "expires_after[anchor]");
  }
  const field = fields.has("expires_in_seconds") ? "expires_in_seconds" : "expires_after[seconds]";
  const requested = fields.get(field);
  if (requested === undefined) return null;
  const seconds = Number(requested);
  if (Number.isInteger(seconds) && seconds >= MIN_LIFETIME_SECONDS && seconds <= MAX_LIFETIME_SECONDS)
    return seconds;
  throw invalidRequest(
    `${field} must be a whole number from ${MIN_LIFETIME_SECONDS} to ${MAX_LIFETIME_SECONDS}`,
    field,
  );
}
