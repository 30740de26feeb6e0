import { ADMINISTRATION } from "./admin/surface.ts";
import { STANDARD_ROUTES } from "./api/index.ts";
import { DIALECTS } from "./dialects/index.ts";
import { PAGE_ROUTES } from "./pages/surface.ts";
import { STANDARD_FAMILY } from "./routing/error-formats.ts";
import {
  type AnyRouteGroup,
  type LazyRouteGroup,
  loadRouteGroup,
  type RouteGroup,
} from "./routing/surface.ts";

/** The group with the OpenAPI document. */
const OPENAPI_GROUP: LazyRouteGroup = {
  tag: "Description",
  family: STANDARD_FAMILY,
  paths: [],
  exactPaths: ["/openapi.json"],
  load: async () => [(await import("./routing/openapi.ts")).openApiEndpoint(loadRouteGroups)],
};

/** All route groups of the program. The most frequently used ones come first. */
export const ROUTE_GROUPS: readonly AnyRouteGroup[] = [
  ...DIALECTS,
  STANDARD_ROUTES,
  PAGE_ROUTES,
  ADMINISTRATION,
  OPENAPI_GROUP,
];

/** All route groups, with the lazy ones loaded. */
export function loadRouteGroups(): Promise<RouteGroup[]> {
  return Promise.all(ROUTE_GROUPS.map(loadRouteGroup));
}
