import type { Endpoint } from "../core/routing/endpoint.ts";
import { CONTENT } from "./content/endpoints.ts";
import { JOB_ENDPOINTS } from "./job-api/endpoints.ts";
import { landingPage } from "./landing-page/endpoints.ts";
import { METADATA } from "./metadata/endpoints.ts";
import { defineEndpoints } from "./operations/define-operation.ts";
import { TECHNOLOGIES } from "./technologies/endpoints.ts";
import { THUMBS } from "./thumbnails/endpoints.ts";

/** Every endpoint of the page service. */
export const PAGE_ENDPOINTS: readonly Endpoint[] = [
  landingPage,
  ...defineEndpoints(THUMBS),
  ...defineEndpoints(TECHNOLOGIES),
  ...defineEndpoints(METADATA),
  ...defineEndpoints(CONTENT),
  ...JOB_ENDPOINTS,
];
