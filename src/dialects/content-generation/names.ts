/** Headers that carry a key in this style: the contract's neutral name and its real-world twin. */
export const KEY_HEADERS = ["x-vendorc-api-key", "x-goog-api-key"] as const;

/** Query parameters that carry a key (contract, Authentication). */
export const KEY_PARAMETERS = ["key", "api_key"] as const;
