import { wholeSurfaces } from "../../src/routes.ts";
import { routesOf } from "../../src/routing/surface.ts";

/** Everything that the program offers, with what it loads late. */
export const SURFACES = await wholeSurfaces();

/** Every route of every surface. */
export const ROUTES = routesOf(SURFACES);
