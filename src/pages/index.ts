import { standardFamily } from "../routing/error-formats.ts";
import type { Surface } from "../routing/surface.ts";
import { home } from "./home/endpoints.ts";
import { JOB_ENDPOINTS } from "./jobs/endpoints.ts";
import { metadata, metadataBatch } from "./metadata/endpoints.ts";
import { technologies, technologiesBatch } from "./technologies/endpoints.ts";
import { thumbnail, thumbnailBatch } from "./thumbnails/endpoints.ts";

/** The page service: keyless, limited per client. */
export const PAGES: Surface = {
  tag: "Page service",
  family: standardFamily("page"),
  paths: ["/v1/thumbs", "/v1/technologies", "/v1/metadata", "/v1/jobs"],
  responseHeaders: [
    "retry-after",
    "location",
    "ratelimit-limit",
    "ratelimit-remaining",
    "ratelimit-reset",
    "ratelimit-policy",
    "x-cache",
    "etag",
    "age",
    "x-image-width",
    "x-image-height",
    "x-page-url",
    "x-page-status",
    "x-page-incomplete",
    "x-page-over-budget",
    "x-page-cut-at",
    "x-page-cut-at-width",
    "x-page-sheets",
    "x-page-cut-at-sheet",
  ],
  endpoints: [
    home,
    thumbnail,
    thumbnailBatch,
    technologies,
    technologiesBatch,
    metadata,
    metadataBatch,
    ...JOB_ENDPOINTS,
  ],
};
