/** Headers with which a caller controls one request (docs/contract/routes.md, Headers that control a request). */

/** The header that bounds the wait for an answer, milliseconds. */
export const TIMEOUT_HEADER = "x-gateway-timeout";
/** The header that bounds the number of further attempts. */
export const RETRIES_HEADER = "x-gateway-retries";
/** The header that names further models, separated by commas. */
export const FALLBACK_HEADER = "x-gateway-fallback";
/** The header in which callers name the tags of a request, separated by commas. */
export const TAGS_HEADER = "x-gateway-tags";
