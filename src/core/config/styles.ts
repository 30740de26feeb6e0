/** Names in the scopes of keys for endpoints that belong to no single API style. */
export const EMBEDDINGS_STYLE = "embeddings";
export const FILES_STYLE = "files";
export const PAGES_STYLE = "pages";

/** All of these names. */
export const SHARED_STYLES: readonly string[] = [EMBEDDINGS_STYLE, FILES_STYLE, PAGES_STYLE];
