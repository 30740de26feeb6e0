import type { Endpoint } from "../core/routing/endpoint.ts";
import { JOB_ENDPOINTS } from "./job-api/endpoints.ts";
import { landingPage } from "./landing-page/endpoints.ts";
import { metadata, metadataBatch } from "./metadata/endpoints.ts";
import { technologies, technologiesBatch } from "./technologies/endpoints.ts";
import { thumbnail, thumbnailBatch } from "./thumbnails/endpoints.ts";

/** Every endpoint of the page service. */
export const PAGE_ENDPOINTS: readonly Endpoint[] = [
  landingPage,
  thumbnail,
  thumbnailBatch,
  technologies,
  technologiesBatch,
  metadata,
  metadataBatch,
  ...JOB_ENDPOINTS,
];
