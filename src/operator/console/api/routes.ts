import { callVersioned } from "./client.ts";
import type { BodyOf } from "./endpoints.ts";
import { sendUndoable } from "./undo.ts";

/** A model route with its name. */
export type NamedRoute = BodyOf<"POST /admin/routes">;

/** Reads one route. */
export const readRoute = (name: string) => callVersioned("GET /admin/routes/:name", { params: { name } });

export const addRoute = (body: NamedRoute) => callVersioned("POST /admin/routes", { body });

/** Changes a route. Another name in `body` renames it. */
export const changeRoute = (name: string, body: NamedRoute, ifMatch: string | undefined) =>
  callVersioned("PUT /admin/routes/:name", { params: { name }, body, ifMatch });

export const deleteRoute = (name: string) => sendUndoable("DELETE /admin/routes/:name", { params: { name } });
