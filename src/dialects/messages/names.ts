/*
 * The contract's neutral names and their real-world twins. Real SDKs cannot change their paths and headers, so each
 * neutral name has its twin here, and nowhere else.
 */

/** The name of the style. */
export const ID = "messages";

/** Path prefixes of the style. */
export const PREFIXES = ["/vendorb", "/anthropic"] as const;

/** What the style's real SDKs send with every request, and nobody else does. */
const SDK_HEADERS = { version: "anthropic-version", beta: "anthropic-beta" } as const;

/** Headers that select the version of the style. */
export const VERSION_HEADERS = ["vendorb-version", SDK_HEADERS.version] as const;

/** Headers that switch on betas. */
export const BETA_HEADERS = ["vendorb-beta", SDK_HEADERS.beta] as const;

/** The version that is assumed when a request names none (contract, Versioning 2). */
export const DEFAULT_VERSION = "2023-06-01";

/**
 * Whether a request on a path that other styles have too comes from an SDK of this one, which says a version or a beta by its
 * real name. The contract's own names are allowed everywhere, and change no answer's shape (contract, general rules 4 and 6).
 */
export function speaksMessages({ headers }: { headers: Headers }): boolean {
  return headers.has(SDK_HEADERS.version) || headers.has(SDK_HEADERS.beta);
}
