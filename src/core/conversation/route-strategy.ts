/**
 * How the targets of a route are ordered: as they are listed or by weight (`order`), by cost, by the time until their first
 * token, or by context size.
 */
export const ROUTE_STRATEGIES = ["order", "cheapest", "fastest", "context"] as const;

export type RouteStrategy = (typeof ROUTE_STRATEGIES)[number];
