/** The version of this build: the `version` of package.json, which a test compares. */
export const VERSION = "3.0.0";
