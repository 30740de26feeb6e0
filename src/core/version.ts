/** The version of this build. It equals `version` in package.json; a test compares them. */
export const VERSION = "3.3.0";

/** Inserted by `scripts/build-worker.mjs`. */
declare const BUILD_ID: string | undefined;

/** Hash of the sources of this build; null if the build tool did not set one. */
export const BUILD: string | null = typeof BUILD_ID === "string" ? BUILD_ID : null;
