import type { NamedRoute } from "../../api/routes.ts";
import type { Route, StoredRoute } from "../../api/settings.ts";
import { texts } from "./texts.ts";

export type Strategy = NonNullable<NamedRoute["strategy"]>;

/** The strategies of routes with their names. */
export const STRATEGIES: readonly (readonly [value: Strategy, name: string])[] = [
  ["order", texts.inOrder],
  ["cheapest", texts.cheapestFirst],
  ["fastest", texts.fastestFirst],
  ["context", texts.smallestContextFirst],
];

/** What the strategies go by. */
export const STRATEGY_HINTS: Readonly<Record<Strategy, string>> = {
  order: "",
  cheapest: texts.cheapestHint,
  fastest: texts.fastestHint,
  context: texts.contextHint,
};

const strategyName = (strategy: Strategy): string =>
  STRATEGIES.find(([value]) => value === strategy)?.[1] ?? strategy;

const isList = (route: StoredRoute): route is Route => Array.isArray(route);

function formatTarget(target: Route[number]): string {
  if (typeof target === "string") return target;
  return target.weight === undefined ? target.model : `${target.model} ${target.weight}`;
}

/** The models of a stored route, how they are ordered, and whether they share the requests by weight. */
export function readRoute(stored: StoredRoute): {
  readonly models: Route;
  readonly strategy: Strategy;
  readonly hasWeights: boolean;
} {
  const { models, strategy } = isList(stored) ? { models: stored, strategy: "order" as const } : stored;
  const hasWeights =
    strategy === "order" &&
    models.some((target) => typeof target !== "string" && target.weight !== undefined);
  return { models: [...models], strategy, hasWeights };
}

/** Formats a route in one line: models joined by arrows, with their shares, or with what orders them. */
export function summarizeRoute(stored: StoredRoute): string {
  if (!isList(stored)) {
    if (stored.strategy === "order") return summarizeRoute([...stored.models]);
    return texts.orderedModels(strategyName(stored.strategy), stored.models.map(formatTarget).join(", "));
  }
  const route = stored;
  const shared = route.some((target) => typeof target !== "string" && target.weight !== undefined);
  if (!shared) return route.map(formatTarget).join(" → ");
  return route
    .map((target) => (typeof target === "string" ? `${target} ×1` : `${target.model} ×${target.weight ?? 1}`))
    .join(", ");
}

/** Returns the route with this name, in any case of its letters. */
export const findRoute = (
  routes: Readonly<Record<string, StoredRoute>>,
  name: string,
): StoredRoute | undefined =>
  Object.entries(routes).find(([known]) => known.toLowerCase() === name.toLowerCase())?.[1];

/** Returns the gateway's error message for a route, without the field name. */
export function findRouteFault(message: string, name: string): string | null {
  const field = [`model_routes.${name}`, "models"].find((prefix) => message.startsWith(prefix));
  if (field === undefined) return null;
  return message.slice(field.length).replace(/^(?:\[\d+\]|\.\d+)*(?:\.\w+)?: /, "");
}
