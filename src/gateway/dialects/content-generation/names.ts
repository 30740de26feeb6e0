/** Identifier of the style. */
export const DIALECT_ID = "content-generation";

/** Header in which the vendor's SDKs send their key. Clients of other styles do not send it. */
const SDK_KEY_HEADER = "x-goog-api-key";

/** Headers that carry a key in this style: the contract's neutral name and the vendor's name. */
export const KEY_HEADERS = ["x-vendorc-api-key", SDK_KEY_HEADER] as const;

/** Query parameters that carry a key (docs/contract/keys.md, Authentication). */
export const KEY_PARAMETERS = ["key", "api_key"] as const;

/**
 * Returns whether an SDK of this style sent a request on a path that several styles share. The check uses a header that
 * only these SDKs send. The contract's own places for a key are valid for every style, so they prove nothing
 * (docs/contract/keys.md, Authentication).
 */
export function isContentGenerationClient({ headers }: { headers: Headers }): boolean {
  return headers.has(SDK_KEY_HEADER);
}
