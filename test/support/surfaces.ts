import { wholeSurfaces } from "../../src/routes.ts";
import { routesOf } from "../../src/routing/surface.ts";

/** All route groups of the program, including the lazy ones. */
export const SURFACES = await wholeSurfaces();

/** All routes of all route groups. */
export const ROUTES = routesOf(SURFACES);
