/** The version of this build: the `version` of package.json, which a test compares. */
export const VERSION = "3.0.0";

/** Put in by `scripts/build-worker.mjs`. */
declare const BUILD_ID: string | undefined;

/** Names the sources that this build was made of; null: it was made in another way, and nobody knows. */
export const BUILD: string | null = typeof BUILD_ID === "string" ? BUILD_ID : null;
