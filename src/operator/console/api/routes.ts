import { callApi, callVersioned } from "./client.ts";
import type { AnswerOf, BodyOf } from "./endpoints.ts";
import { sendUndoable } from "./undo.ts";

/** A model route with its name. */
export type NamedRoute = BodyOf<"POST /admin/routes">;

/** The models of a route in the order in which it tries them now. */
export type RouteOrder = AnswerOf<"GET /admin/route-order">;

/** Reads in which order a route, which need not be saved, tries its models now. */
export const readRouteOrder = (models: NamedRoute["models"], strategy: string) =>
  callApi("GET /admin/route-order", { query: { models: JSON.stringify(models), strategy } });

/** Reads one route. */
export const readRoute = (name: string) => callVersioned("GET /admin/routes/:name", { params: { name } });

export const addRoute = (body: NamedRoute) => callVersioned("POST /admin/routes", { body });

/** Changes a route. Another name in `body` renames it. */
export const changeRoute = (name: string, body: NamedRoute, ifMatch: string | undefined) =>
  callVersioned("PUT /admin/routes/:name", { params: { name }, body, ifMatch });

export const deleteRoute = (name: string) => sendUndoable("DELETE /admin/routes/:name", { params: { name } });
