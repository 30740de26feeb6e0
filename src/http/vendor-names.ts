/**
 * The contract's neutral names and their real-world twins. Real SDKs cannot change their paths and headers, so each
 * neutral name has its twin here, and nowhere else.
 */

/** Path prefixes of the message style. */
export const MESSAGE_PREFIXES = ["/vendorb", "/anthropic"] as const;

/** Headers that select the message-style API version. */
export const MESSAGE_VERSION_HEADERS = ["vendorb-version", "anthropic-version"] as const;

/** Headers that switch on message-style betas. */
export const MESSAGE_BETA_HEADERS = ["vendorb-beta", "anthropic-beta"] as const;

/** Headers that carry a key in the content-generation style. */
export const CONTENT_KEY_HEADERS = ["x-vendorc-api-key", "x-goog-api-key"] as const;

/** Prefixes of message-style model ids. */
export const MESSAGE_MODEL_PREFIXES = ["modelb-", "claude-"] as const;

/** The message-style version that is assumed when a request names none (contract, Versioning 2). */
export const DEFAULT_MESSAGE_VERSION = "2023-06-01";
