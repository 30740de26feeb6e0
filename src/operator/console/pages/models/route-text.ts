import type { Route } from "../../api/settings.ts";

/** Matches a weight after a model, including the white space between them. */
const WEIGHT = /(?<!\s)\s+(\d+(?:\.\d+)?)$/;

/** Formats a route for the form: one model per line, followed by its weight if it has one. */
export function formatRoute(route: Route): string {
  return route.map(formatTarget).join("\n");
}

function formatTarget(target: Route[number]): string {
  if (typeof target === "string") return target;
  return target.weight === undefined ? target.model : `${target.model} ${target.weight}`;
}

/** Parses the text of the form. */
export function parseRoute(text: string): Route {
  return text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "")
    .map((line) => {
      const match = WEIGHT.exec(line);
      return match === null ? line : { model: line.slice(0, match.index), weight: Number(match[1]) };
    });
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
