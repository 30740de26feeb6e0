import type { Dialect } from "../dialect.ts";
import { batchEmbedContents, embedContent } from "./embeddings.ts";
import { countContentTokens, generateContent, streamContent } from "./endpoints.ts";
import { CONTENT_FAMILY } from "./family.ts";
import { CONTENT_FILES } from "./files.ts";
import { CONTENT_MODELS } from "./models.ts";
import { KEY_HEADERS, KEY_PARAMETERS } from "./names.ts";
import { ID } from "./request.ts";
import { CONTENT_UPLOADS, UPLOAD_HEADERS } from "./uploads.ts";

/** The content-generation style, under `/v1beta` and, told by its verbs, under `/v1`. */
export const contentGeneration: Dialect = {
  id: ID,
  tag: "Content-generation style",
  family: CONTENT_FAMILY,
  paths: ["/v1beta/", "/upload/"],
  alsoOwns: [/^\/v1\/models\/.*:[a-zA-Z]+\/?$/],
  credentials: [
    ...KEY_HEADERS.map((name) => ({ in: "header" as const, name })),
    ...KEY_PARAMETERS.map((name) => ({ in: "query" as const, name })),
  ],
  requestHeaders: KEY_HEADERS,
  responseHeaders: UPLOAD_HEADERS,
  endpoints: [
    generateContent,
    streamContent,
    countContentTokens,
    embedContent,
    batchEmbedContents,
    ...CONTENT_MODELS,
    ...CONTENT_FILES,
    ...CONTENT_UPLOADS,
  ],
};
