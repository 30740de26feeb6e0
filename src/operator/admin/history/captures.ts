import * as z from "zod";
import { adminEndpoint, type Endpoint, jsonResponse } from "../../../core/routing/endpoint.ts";
import { successSchema } from "../answers.ts";
import { requireFound } from "../resource-errors.ts";
import { captureSchema, captureSummarySchema } from "./archive-answers.ts";

const captureListSchema = () =>
  z.object({
    enabled: z.boolean(),
    limit: z.int(),
    max_body_bytes: z.int(),
    items: z.array(captureSummarySchema()),
  });

export const CAPTURE_ENDPOINTS = [
  /** `GET /admin/dev/captures` (docs/contract/admin-history.md): newest first, with truncated bodies. */
  adminEndpoint({
    method: "GET",
    path: "/admin/dev/captures",
    summary: "List the captures",
    answers: jsonResponse(captureListSchema),
    handler: async (context) => {
      const { config } = await context.config();
      const { enabled, limit, max_body_bytes } = config.captures;
      const items = await context.platform.archive.listCaptures();
      return Response.json({ enabled, limit, max_body_bytes, items });
    },
  }),
  /** `GET /admin/dev/captures/{id}`: one capture with complete bodies. */
  adminEndpoint({
    method: "GET",
    path: "/admin/dev/captures/:id",
    summary: "Read a capture",
    answers: jsonResponse(captureSchema),
    handler: async ({ platform }, { params: { id = "" } }) =>
      Response.json(requireFound(await platform.archive.readCapture(id), "the capture", id)),
  }),
  /**
   * `DELETE /admin/dev/captures` (docs/contract/admin-history.md): deletes all captures, and also captures of exchanges
   * that began before this request.
   */
  adminEndpoint({
    method: "DELETE",
    path: "/admin/dev/captures",
    role: "owner",
    audit: "deletion",
    summary: "Clear the captures",
    answers: jsonResponse(() => successSchema().extend({ detail: z.string(), deleted: z.int() })),
    handler: async ({ platform }) => {
      const deleted = await platform.archive.clearCaptures();
      return Response.json({ success: true, detail: "the capture logs were cleared", deleted });
    },
  }),
] satisfies readonly Endpoint[];
