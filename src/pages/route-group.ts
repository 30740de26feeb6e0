import { getOperationPath, PAGE_OPERATIONS } from "../core/ports/page-jobs.ts";
import { createStandardFamily } from "../core/routing/error-formats.ts";
import type { LazyRouteGroup } from "../core/routing/route-group.ts";

/** The routes of the page service: no key needed, rate-limited per client. */
export const PAGE_ROUTES: LazyRouteGroup = {
  tag: "Page service",
  family: createStandardFamily("page"),
  paths: [...PAGE_OPERATIONS.map(getOperationPath), "/v1/jobs"],
  exactPaths: ["/"],
  load: async () => (await import("./index.ts")).PAGE_ENDPOINTS,
};
