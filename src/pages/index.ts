import type { Endpoint } from "../routing/endpoint.ts";
import { landingPage } from "./home/endpoints.ts";
import { JOB_ENDPOINTS } from "./jobs/endpoints.ts";
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
