import type { LazyRouteGroup } from "../../core/routing/route-group.ts";
import { ADMIN_FAMILY } from "./family.ts";

/** The admin API. The console at `/admin` uses the same error format. */
export const ADMINISTRATION: LazyRouteGroup = {
  tag: "Administration",
  family: ADMIN_FAMILY,
  paths: ["/admin/"],
  extraErrorPaths: ["/admin"],
  ownPagesOnly: true,
  requestHeaders: ["If-Match"],
  load: async () => (await import("./index.ts")).ADMIN_ENDPOINTS,
};
