import { listRoutes } from "../../src/core/routing/route-group.ts";
import { loadRouteGroups } from "../../src/routes.ts";

/** All route groups of the program, including the lazy ones. */
export const ROUTE_GROUPS = await loadRouteGroups();

/** All routes of all route groups. */
export const ROUTES = listRoutes(ROUTE_GROUPS);
