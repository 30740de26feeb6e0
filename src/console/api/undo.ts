import { type CallOptions, send } from "./client.ts";

/** Brings back what was before. @throws ApiError, such as 412 when something else has been changed since. */
export type Undo = () => Promise<void>;

/** Sends an edit before which the gateway keeps the configuration; null: there is nothing to undo. */
export async function undoable(path: string, options: CallOptions): Promise<Undo | null> {
  const tag = (await send(path, options)).headers.get("etag");
  const version = Number(/^(?:W\/)?"(\d+)"$/.exec(tag ?? "")?.[1]);
  if (tag === null || !(version > 1)) return null;
  return async () => {
    // Each edit makes the next version.
    const body = { version: version - 1 };
    await send("/admin/config/restore", { method: "POST", body, ifMatch: tag.replace(/^W\//, "") });
  };
}
