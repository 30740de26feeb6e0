import { getOperationPath, PAGE_OPERATIONS } from "../core/ports/page-jobs.ts";
import { createStandardFamily } from "../core/routing/error-formats.ts";
import type { LazyRouteGroup } from "../core/routing/route-group.ts";

/** The routes of the page service: no key needed, rate-limited per client. */
export const PAGE_ROUTES: LazyRouteGroup = {
  tag: "Page service",
  family: createStandardFamily("page"),
  paths: [...PAGE_OPERATIONS.map(getOperationPath), "/v1/jobs"],
  exactPaths: ["/"],
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
    "x-page-incomplete-reason",
    "x-page-over-budget",
    "x-page-missing-glyphs",
    "x-page-cut-at",
    "x-page-cut-at-width",
    "x-page-sheets",
    "x-page-cut-at-sheet",
    "server-timing",
  ],
  load: async () => (await import("./index.ts")).PAGE_ENDPOINTS,
};
