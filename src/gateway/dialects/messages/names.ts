/*
 * Neutral names of the contract and the matching names of the vendor's API. SDKs cannot change their paths and headers, so
 * the gateway accepts both. Only this file contains the vendor's names.
 */

/** Identifier of the style. */
export const DIALECT_ID = "messages";

/** Path prefixes of the style. */
export const PREFIXES = ["/vendorb", "/anthropic"] as const;

/** Headers that the vendor's SDKs send. Clients of other styles do not send them. */
const SDK_HEADERS = { version: "anthropic-version", beta: "anthropic-beta" } as const;

/** Headers that select the version of the style. */
export const VERSION_HEADERS = ["vendorb-version", SDK_HEADERS.version] as const;

/** Headers that switch on betas. */
export const BETA_HEADERS = ["vendorb-beta", SDK_HEADERS.beta] as const;

/** The version to use when a request names none (docs/contract.md, Versioning, rule 2). */
export const DEFAULT_VERSION = "2023-06-01";

/**
 * Returns whether an SDK of this style sent a request on a path that several styles share: it has the vendor's version or
 * beta header. The contract's own header names are allowed everywhere and do not change the answer (docs/contract.md,
 * general rules 4 and 6).
 */
export function isMessagesClient({ headers }: { headers: Headers }): boolean {
  return headers.has(SDK_HEADERS.version) || headers.has(SDK_HEADERS.beta);
}
