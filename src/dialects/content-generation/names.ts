/** The name of the style. */
export const ID = "content-generation";

/** Headers that carry a key in this style: the contract's neutral name and its real-world twin. */
export const KEY_HEADERS = ["x-vendorc-api-key", "x-goog-api-key"] as const;

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
 * Whether a request on a path that other styles have too comes from a client of this one: its SDKs put their key where no
 * other style has it.
 */
export function speaksContentGeneration({ headers, url }: { headers: Headers; url: URL }): boolean {
  return KEY_HEADERS.some((name) => headers.has(name)) || url.searchParams.has("key");
}
