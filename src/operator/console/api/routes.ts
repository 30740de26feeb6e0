import * as z from "zod/mini";
import { callVersioned } from "./client.ts";
import { type Route, routeSchema } from "./settings.ts";
import { sendUndoable } from "./undo.ts";

const namedRoute = z.object({ name: z.string(), models: routeSchema });

/** A model route with its name. */
export interface NamedRoute {
  readonly name: string;
  readonly models: Route;
}

const routePath = (name: string) => `/admin/routes/${encodeURIComponent(name)}`;

/** Reads one route. */
export const readRoute = (name: string) => callVersioned(namedRoute, routePath(name));

export const addRoute = (body: NamedRoute) =>
  callVersioned(namedRoute, "/admin/routes", { method: "POST", body });

/** Changes a route. Another name in `body` renames it. */
export const changeRoute = (name: string, body: NamedRoute, ifMatch: string | undefined) =>
  callVersioned(namedRoute, routePath(name), { method: "PUT", body, ifMatch });

export const deleteRoute = (name: string) => sendUndoable(routePath(name), { method: "DELETE" });
