import type { Endpoint } from "../../../core/routing/endpoint.ts";
import { CONTENT_CACHES } from "./cache-endpoints.ts";
import { batchEmbedContents, embedContent } from "./embeddings.ts";
import { countContentTokens, generateContent, streamContent } from "./endpoints.ts";
import { CONTENT_FILES } from "./files.ts";
import { CONTENT_MODELS } from "./models.ts";
import { CONTENT_UPLOADS } from "./uploads.ts";

/** All endpoints of the style. */
export const CONTENT_ENDPOINTS: readonly Endpoint[] = [
  generateContent,
  streamContent,
  countContentTokens,
  embedContent,
  batchEmbedContents,
  ...CONTENT_MODELS,
  ...CONTENT_CACHES,
  ...CONTENT_FILES,
  ...CONTENT_UPLOADS,
];
