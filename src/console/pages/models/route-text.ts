import type { Route } from "../../api/settings.ts";

/** The weight behind a model, and the space between them. */
const WEIGHT = /(?<!\s)\s+(\d+(?:\.\d+)?)$/;

/** A route as it is typed: a model a line, with its weight behind it where it has one. */
export function textOfRoute(route: Route): string {
  return route.map(wordsOf).join("\n");
}

function wordsOf(target: Route[number]): string {
  if (typeof target === "string") return target;
  return target.weight === undefined ? target.model : `${target.model} ${target.weight}`;
}

/** The route that was typed. */
export function routeIn(text: string): Route {
  return text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "")
    .map((line) => {
      const found = WEIGHT.exec(line);
      return found === null ? line : { model: line.slice(0, found.index), weight: Number(found[1]) };
    });
}

/** A route in one line: the models with arrows from one to the next, or their shares. */
export function summaryOf(route: Route): string {
  const shared = route.some((target) => typeof target !== "string" && target.weight !== undefined);
  if (!shared) return route.map(wordsOf).join(" → ");
  return route
    .map((it) => (typeof it === "string" ? `${it} ×1` : `${it.model} ×${it.weight ?? 1}`))
    .join(", ");
}

/** What the gateway says of a route that it refuses, without the name of the field. */
export function routeFault(message: string, name: string): string | null {
  const field = `model_routes.${name}`;
  if (!message.startsWith(field)) return null;
  return message.slice(field.length).replace(/^(?:\[\d+\]|\.\d+)*(?:\.\w+)?: /, "");
}
