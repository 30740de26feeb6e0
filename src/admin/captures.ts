import type { Handler } from "../platform/context.ts";
import { missing } from "./edit.ts";

/** `GET /admin/dev/captures` (contract): newest first, bodies cut to their beginning. */
export const listCaptures: Handler = async (context) => {
  const { config } = await context.config();
  const { enabled, limit, max_body_bytes } = config.captures;
  return Response.json({
    enabled,
    limit,
    max_body_bytes,
    items: await context.platform.archive.listCaptures(),
  });
};

/** `GET /admin/dev/captures/{id}`: one capture with its whole bodies. */
export const readCapture: Handler = async (context) => {
  const id = context.params["id"] ?? "";
  const capture = await context.platform.archive.readCapture(id);
  if (capture === null) throw missing(`the capture ${JSON.stringify(id)}`);
  return Response.json(capture);
};

/** `DELETE /admin/dev/captures` (contract). */
export const clearCaptures: Handler = async (context) => {
  const deleted = await context.platform.archive.clearCaptures();
  return Response.json({ success: true, detail: "the capture logs were cleared", deleted });
};
