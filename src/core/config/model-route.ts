import type { RouteStrategy } from "../conversation/route-strategy.ts";
import type { Config } from "./schema.ts";

/** A route as it is stored: a list, or a list with a strategy. */
export type StoredRoute = Config["model_routes"][string];

/** The target models of a route. */
export type RouteModels = Extract<StoredRoute, readonly unknown[]>;

/** Reads a stored route. */
export function readModelRoute(route: StoredRoute): {
  readonly strategy: RouteStrategy;
  readonly models: RouteModels;
} {
  return Array.isArray(route) ? { strategy: "order", models: route } : route;
}

/** Returns a route as it is stored. A plain list stays one. */
export function toStoredRoute(models: RouteModels, strategy: RouteStrategy): StoredRoute {
  return strategy === "order" ? models : { strategy, models };
}
