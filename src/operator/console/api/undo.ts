import { type CallOptions, sendRequest } from "./client.ts";

/** Restores the previous configuration. @throws ApiError, for example 412 after a later change. */
export type Undo = () => Promise<void>;

/** Sends an edit that saves the previous configuration. null: the edit cannot be undone. */
export async function sendUndoable(path: string, options: CallOptions): Promise<Undo | null> {
  const tag = (await sendRequest(path, options)).headers.get("etag");
  const version = Number(/^(?:W\/)?"(\d+)"$/.exec(tag ?? "")?.[1]);
  if (tag === null || !(version > 1)) return null;
  return async () => {
    // Each edit increments the version by one.
    const body = { version: version - 1 };
    await sendRequest("/admin/config/restore", { method: "POST", body, ifMatch: tag.replace(/^W\//, "") });
  };
}
