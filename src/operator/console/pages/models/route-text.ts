import type { Route } from "../../api/settings.ts";

function formatTarget(target: Route[number]): string {
  if (typeof target === "string") return target;
  return target.weight === undefined ? target.model : `${target.model} ${target.weight}`;
}

/** Formats a route in one line: models joined by arrows, or with their shares. */
export function summarizeRoute(route: Route): string {
  const shared = route.some((target) => typeof target !== "string" && target.weight !== undefined);
  if (!shared) return route.map(formatTarget).join(" → ");
  return route
    .map((target) => (typeof target === "string" ? `${target} ×1` : `${target.model} ×${target.weight ?? 1}`))
    .join(", ");
}

/** Returns the gateway's error message for a route, without the field name. */
export function findRouteFault(message: string, name: string): string | null {
  const field = [`model_routes.${name}`, "models"].find((prefix) => message.startsWith(prefix));
  if (field === undefined) return null;
  return message.slice(field.length).replace(/^(?:\[\d+\]|\.\d+)*(?:\.\w+)?: /, "");
}
