import { sendTo } from "./client.ts";
import type { AdminRoute, RequestTo } from "./endpoints.ts";

/** Restores the previous configuration. @throws ApiError, for example 412 after a later change. */
export type Undo = () => Promise<void>;

/** Sends an edit that saves the previous configuration. null: the edit cannot be undone. */
export async function sendUndoable<Route extends AdminRoute>(
  route: Route,
  request: RequestTo<Route>,
): Promise<Undo | null> {
  const tag = (await sendTo(route, request)).headers.get("etag");
  const version = Number(/^(?:W\/)?"(\d+)"$/.exec(tag ?? "")?.[1]);
  if (tag === null || !(version > 1)) return null;
  return async () => {
    // Each edit increments the version by one.
    const body = { version: version - 1 };
    await sendTo("POST /admin/config/restore", { body, ifMatch: tag.replace(/^W\//, "") });
  };
}
