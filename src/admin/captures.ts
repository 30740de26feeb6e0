import * as z from "zod";
import { type Endpoint, forAdministrators, json } from "../routing/endpoint.ts";
import { successSchema } from "./answers.ts";
import { captureSchema, captureSummarySchema } from "./archive-answers.ts";
import { found } from "./refusals.ts";

const captureListSchema = () =>
  z.object({
    enabled: z.boolean(),
    limit: z.int(),
    max_body_bytes: z.int(),
    items: z.array(captureSummarySchema()),
  });

export const CAPTURE_ENDPOINTS: readonly Endpoint[] = [
  /** `GET /admin/dev/captures` (contract): newest first, with truncated bodies. */
  forAdministrators({
    method: "GET",
    path: "/admin/dev/captures",
    summary: "List the captures",
    answers: json(captureListSchema),
    handler: async (context) => {
      const { config } = await context.config();
      const { enabled, limit, max_body_bytes } = config.captures;
      const items = await context.platform.archive.listCaptures();
      return Response.json({ enabled, limit, max_body_bytes, items });
    },
  }),
  /** `GET /admin/dev/captures/{id}`: one capture with complete bodies. */
  forAdministrators({
    method: "GET",
    path: "/admin/dev/captures/:id",
    summary: "Read a capture",
    answers: json(captureSchema),
    handler: async ({ platform }, { params: { id = "" } }) =>
      Response.json(found(await platform.archive.readCapture(id), "the capture", id)),
  }),
  /**
   * `DELETE /admin/dev/captures` (contract): deletes all captures, and also captures of exchanges that began before this
   * request.
   */
  forAdministrators({
    method: "DELETE",
    path: "/admin/dev/captures",
    summary: "Clear the captures",
    answers: json(() => successSchema().extend({ detail: z.string(), deleted: z.int() })),
    handler: async ({ platform }) => {
      const deleted = await platform.archive.clearCaptures();
      return Response.json({ success: true, detail: "the capture logs were cleared", deleted });
    },
  }),
];
