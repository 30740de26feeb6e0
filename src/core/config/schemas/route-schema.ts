import * as z from "zod";
import { ROUTE_STRATEGIES, type RouteStrategy } from "../../conversation/route-strategy.ts";
import { lazyObject } from "../../encoding/lazy-schema.ts";
import { once } from "../../encoding/once.ts";

/** A target model of a route, with its weight. */
export const routeTargetSchema = lazyObject(() => ({
  model: z.string().trim().min(1),
  weight: z.number().min(0).max(1_000).optional(),
}));

/**
 * The target models of a route: by id, `provider/model` or alias; with weights if conversations are distributed over them.
 */
export const routeSchema = <Target extends z.ZodType>(target: Target, error?: z.core.$ZodErrorMap) =>
  z
    .array(z.union([z.string().trim().min(1), target], error === undefined ? {} : { error }))
    .min(1, "a route leads to one model at least")
    .max(20);

/** A route with a strategy that orders its targets for each request. */
export const strategicRouteSchema = <Target extends z.ZodType<string | { weight?: unknown }>>(
  models: z.ZodArray<Target>,
) => z.object({ strategy: z.enum(ROUTE_STRATEGIES), models });

export const UNUSED_WEIGHTS = "weights need the strategy order";

/** Whether a target has a weight. */
function hasWeights(targets: readonly (string | { weight?: unknown })[]): boolean {
  return targets.some((target) => typeof target !== "string" && target.weight !== undefined);
}

/** Whether a route has no weights that its strategy leaves unused. */
export function usesItsWeights(route: {
  readonly strategy: RouteStrategy;
  readonly models: readonly (string | { weight?: unknown })[];
}): boolean {
  return route.strategy === "order" || !hasWeights(route.models);
}

/** A route as a list of targets, or with a strategy. */
export const modelRouteSchema = once(() => {
  const models = routeSchema(routeTargetSchema);
  return z.union([models, strategicRouteSchema(models).refine(usesItsWeights, UNUSED_WEIGHTS)]);
});
