import { PAGE_OPERATIONS, type PageOperation } from "../core/ports/page-jobs.ts";
import type { Endpoint } from "../core/routing/endpoint.ts";
import { CONTENT } from "./content/endpoints.ts";
import { JOB_ENDPOINTS } from "./job-api/endpoints.ts";
import { landingPage } from "./landing-page/endpoints.ts";
import { METADATA } from "./metadata/endpoints.ts";
import { defineEndpoints } from "./operations/define-operation.ts";
import { TECHNOLOGIES } from "./technologies/endpoints.ts";
import { THUMBS } from "./thumbnails/endpoints.ts";

const OPERATION_ENDPOINTS: Readonly<Record<PageOperation, readonly Endpoint[]>> = {
  thumbs: defineEndpoints(THUMBS),
  technologies: defineEndpoints(TECHNOLOGIES),
  metadata: defineEndpoints(METADATA),
  content: defineEndpoints(CONTENT),
};

/** Every endpoint of the page service. */
export const PAGE_ENDPOINTS: readonly Endpoint[] = [
  landingPage,
  ...PAGE_OPERATIONS.flatMap((operation) => OPERATION_ENDPOINTS[operation]),
  ...JOB_ENDPOINTS,
];
