/** The name of the style. */
export const ID = "content-generation";

/** The header in which the style's real SDKs send their key, and nobody else does. */
const SDK_KEY_HEADER = "x-goog-api-key";

/** Headers that carry a key in this style: the contract's neutral name and its real-world twin. */
export const KEY_HEADERS = ["x-vendorc-api-key", SDK_KEY_HEADER] as const;

/** Query parameters that carry a key (contract, Authentication). */
export const KEY_PARAMETERS = ["key", "api_key"] as const;

/** What the style's resumable protocol answers in headers. */
export const UPLOAD_HEADERS = [
  "X-Goog-Upload-URL",
  "X-Goog-Upload-Status",
  "X-Goog-Upload-Size-Received",
  "X-Goog-Upload-Chunk-Granularity",
  "X-Goog-Upload-Control-URL",
] as const;

/**
 * Whether a request on a path that other styles have too comes from an SDK of this one, told by what no client of another
 * style sends. The contract's own places of a key are good for every style, and say nothing (contract, Authentication).
 */
export function speaksContentGeneration({ headers }: { headers: Headers }): boolean {
  return headers.has(SDK_KEY_HEADER);
}
