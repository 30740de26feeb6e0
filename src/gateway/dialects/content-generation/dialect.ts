import type { Dialect } from "../dialect.ts";
import { CONTENT_FAMILY } from "./family.ts";
import { DIALECT_ID, KEY_HEADERS, KEY_PARAMETERS } from "./names.ts";

/** The content-generation style: under `/v1beta`, and under `/v1` for paths that end with one of its verbs. */
export const contentGeneration: Dialect = {
  id: DIALECT_ID,
  tag: "Content-generation style",
  family: CONTENT_FAMILY,
  paths: ["/v1beta/", "/v1/cachedContents", "/upload/"],
  extraErrorPaths: [/^\/v1\/models\/.*:[a-zA-Z]+\/?$/],
  sharedPaths: ["/v1/models", "/v1/files"],
  credentials: [
    ...KEY_HEADERS.map((name) => ({ in: "header" as const, name })),
    ...KEY_PARAMETERS.map((name) => ({ in: "query" as const, name })),
  ],
  requestHeaders: KEY_HEADERS,
  load: async () => (await import("./index.ts")).CONTENT_ENDPOINTS,
};
