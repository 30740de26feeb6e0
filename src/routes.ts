import { CorsPolicy } from "./core/routing/cors.ts";
import { STANDARD_FAMILY } from "./core/routing/error-formats.ts";
import {
  type AnyRouteGroup,
  type LazyRouteGroup,
  loadRouteGroup,
  PathFamilies,
  type RouteGroup,
} from "./core/routing/route-group.ts";
import { RouteTable } from "./core/routing/router.ts";
import { STANDARD_ROUTES } from "./gateway/api/index.ts";
import { DIALECTS } from "./gateway/dialects/index.ts";
import { KEY_VIEW_GROUP } from "./gateway/key-view/route-group.ts";
import { MCP_GROUP } from "./gateway/mcp/route-group.ts";
import { PASSTHROUGH_GROUP } from "./gateway/passthrough/route-group.ts";
import { ADMINISTRATION } from "./operator/admin/route-group.ts";
import { PAGE_ROUTES } from "./pages/route-group.ts";

/** The group with the OpenAPI document. */
const OPENAPI_GROUP: LazyRouteGroup = {
  tag: "Description",
  family: STANDARD_FAMILY,
  paths: [],
  exactPaths: ["/openapi.json"],
  load: async () => [(await import("./core/routing/openapi.ts")).openApiEndpoint(loadRouteGroups)],
};

/** All route groups of the program. The most frequently used ones come first. */
export const ROUTE_GROUPS: readonly AnyRouteGroup[] = [
  ...DIALECTS,
  ...STANDARD_ROUTES,
  PASSTHROUGH_GROUP,
  KEY_VIEW_GROUP,
  PAGE_ROUTES,
  MCP_GROUP,
  ADMINISTRATION,
  OPENAPI_GROUP,
];

/** Finds the endpoint of a request. */
export const ROUTE_TABLE = new RouteTable(ROUTE_GROUPS);
/** The error shape, and other traits of answers, by path: also for paths without an endpoint. */
export const PATH_FAMILIES = new PathFamilies(ROUTE_GROUPS, STANDARD_FAMILY);
/** Which headers browsers may send and read, by path. */
export const CORS = new CorsPolicy(ROUTE_GROUPS);

/** All route groups, with the lazy ones loaded. */
export function loadRouteGroups(): Promise<RouteGroup[]> {
  return Promise.all(ROUTE_GROUPS.map(loadRouteGroup));
}
