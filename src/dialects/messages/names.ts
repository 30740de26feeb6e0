/*
 * The contract's neutral names and their real-world twins. Real SDKs cannot change their paths and headers, so each
 * neutral name has its twin here, and nowhere else.
 */

/** The name of the style. */
export const ID = "messages";

/** Path prefixes of the style. */
export const PREFIXES = ["/vendorb", "/anthropic"] as const;

/** Headers that select the version of the style. */
export const VERSION_HEADERS = ["vendorb-version", "anthropic-version"] as const;

/** Headers that switch on betas. */
export const BETA_HEADERS = ["vendorb-beta", "anthropic-beta"] as const;

/** The version that is assumed when a request names none (contract, Versioning 2). */
export const DEFAULT_VERSION = "2023-06-01";

/** Whether a request on a path that other styles have too comes from a client of this one: they say its version. */
export function speaksMessages({ headers }: { headers: Headers }): boolean {
  return [...VERSION_HEADERS, ...BETA_HEADERS].some((name) => headers.has(name));
}
